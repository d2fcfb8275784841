// npm run device. The sources are bundled when they have changed, so that a device that runs for days keeps neither a
// TypeScript loader nor the bundler in memory.
import { cachedBundle } from "xs-mcp/bundle";

await import(new URL("cli.js", await cachedBundle("device")).href);
