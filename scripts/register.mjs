// Lets Node load the project's TypeScript: `node --import ./scripts/register.mjs file.ts`.
import { fileURLToPath } from "node:url";

// Else that of the folder in which the program is started.
process.env.TSX_TSCONFIG_PATH ??= fileURLToPath(new URL("../tsconfig.json", import.meta.url));
await import("tsx/esm");
