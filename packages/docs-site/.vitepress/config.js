// VitePress would compile the files that it imports by itself, with an older compiler; Node runs them as they
// are.
const { default: config } = await import(String(new URL('../config.ts', import.meta.url)));

export default config;
