#version 330 core
// One triangle that covers the window; no buffers needed.
out vec2 place;  // 0..1 across the window, origin at the top left

void main() {
    vec2 corner = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
    place = vec2(corner.x, 1.0 - corner.y);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
