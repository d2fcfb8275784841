// Lets Node load the project's TypeScript: `node --import ./tools/register.mjs file.ts`.
import { register } from "node:module";
import { fileURLToPath } from "node:url";

process.env.TS_NODE_PROJECT ??= fileURLToPath(new URL("../packages/tsconfig.json", import.meta.url));
register("ts-node/esm", import.meta.url);
