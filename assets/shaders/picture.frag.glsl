#version 330 core
// The frame enlarged by a Catmull-Rom filter inside its box; around it the frame's own colours, blurred and dark.
uniform sampler2D frame;
uniform sampler2D glow;
uniform vec2 window;  // pixels
uniform vec4 box;     // left, top, width, height in pixels
out vec4 colour;

// Sixteen taps in nine fetches: the two middle ones of each row fall together on one bilinear fetch.
vec3 catmull_rom(sampler2D image, vec2 uv) {
    vec2 size = vec2(textureSize(image, 0));
    vec2 at = uv * size;
    vec2 base = floor(at - 0.5) + 0.5;
    vec2 f = at - base;
    vec2 w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    vec2 w1 = 1.0 + f * f * (1.5 * f - 2.5);
    vec2 w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    vec2 w3 = f * f * (0.5 * f - 0.5);
    vec2 w12 = w1 + w2;
    vec2 t[3] = vec2[3]((base - 1.0) / size, (base + w2 / w12) / size, (base + 2.0) / size);
    vec2 w[3] = vec2[3](w0, w12, w3);
    vec3 sum = vec3(0.0);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
            sum += w[x].x * w[y].y * textureLod(image, vec2(t[x].x, t[y].y), 0.0).rgb;
    return clamp(sum, 0.0, 1.0);
}

void main() {
    vec2 at = vec2(gl_FragCoord.x, window.y - gl_FragCoord.y);
    vec2 uv = (at - box.xy) / box.zw;
    bool inside = all(greaterThanEqual(uv, vec2(0.0))) && all(lessThan(uv, vec2(1.0)));
    colour = vec4(inside ? catmull_rom(frame, uv) : texture(glow, at / window).rgb, 1.0);
}
