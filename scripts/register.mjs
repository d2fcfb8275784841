// Lets Node load the project's TypeScript: `node --import ./scripts/register.mjs file.ts`.
import { register } from "node:module";

process.env.TS_NODE_PROJECT ??= new URL("../tsconfig.node.json", import.meta.url).pathname;
register("ts-node/esm", import.meta.url);
