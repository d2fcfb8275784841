// npm run device. The sources are bundled when they have changed, so that neither a loader of TypeScript nor the bundler
// stays in the memory of a device that runs for days.
import { cachedBundle } from "xs-mcp/bundle";

await import(new URL("cli.js", await cachedBundle("device")).href);
