#version 330 core
// Enlarges a small frame: Catmull-Rom cubic from nine bilinear samples, kept within the range of its neighbours so that edges don't ring,
// and a little dither against banding. Outside the frame: the frame again, blurred and dim.
uniform sampler2D frame;
uniform vec2 size;      // of the frame in pixels
uniform vec4 crop;      // window place -> frame place: xy offset, zw scale
uniform float surround; // brightness of what lies beside the frame
uniform int filtering;  // 0 cubic, 1 linear, 2 single pixels
in vec2 place;
out vec4 colour;

vec3 cubic(vec2 at) {
    vec2 texel = at * size;
    vec2 centre = floor(texel - 0.5) + 0.5;
    vec2 f = texel - centre;
    vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    vec2 w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    vec2 w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    vec2 w3 = f * f * (-0.5 + 0.5 * f);
    vec2 w12 = w1 + w2;
    vec2 p0 = (centre - 1.0) / size, p3 = (centre + 2.0) / size, p12 = (centre + w2 / w12) / size;
    vec3 sum =
        (texture(frame, vec2(p0.x, p0.y)).rgb * w0.x + texture(frame, vec2(p12.x, p0.y)).rgb * w12.x + texture(frame, vec2(p3.x, p0.y)).rgb * w3.x) * w0.y +
        (texture(frame, vec2(p0.x, p12.y)).rgb * w0.x + texture(frame, p12).rgb * w12.x + texture(frame, vec2(p3.x, p12.y)).rgb * w3.x) * w12.y +
        (texture(frame, vec2(p0.x, p3.y)).rgb * w0.x + texture(frame, vec2(p12.x, p3.y)).rgb * w12.x + texture(frame, vec2(p3.x, p3.y)).rgb * w3.x) * w3.y;
    return sum;
}

vec3 blurred(vec2 at) {
    vec3 sum = vec3(0.0);
    for (int y = -2; y <= 2; ++y)
        for (int x = -2; x <= 2; ++x)
            sum += texture(frame, at + vec2(x, y) * 0.045).rgb;
    return sum / 25.0;
}

vec3 enlarged(vec2 at) {
    if (filtering == 2)
        return texture(frame, (floor(at * size) + 0.5) / size).rgb;
    return filtering == 1 ? texture(frame, at).rgb : cubic(at);
}

float noise(vec2 at) {
    return fract(52.9829189 * fract(dot(at, vec2(0.06711056, 0.00583715)))) - 0.5;
}

void main() {
    vec2 at = crop.xy + place * crop.zw;
    bool inside = all(greaterThanEqual(at, vec2(0.0))) && all(lessThanEqual(at, vec2(1.0)));
    vec3 shown = inside ? enlarged(at) : blurred(place) * surround;
    colour = vec4(clamp(shown + noise(gl_FragCoord.xy) / 255.0, 0.0, 1.0), 1.0);
}
