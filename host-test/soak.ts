// npm run soak: hosts and devices come and go a thousand times, and networks fail for a minute. About twelve
// minutes. npm test does a little of the same.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const files = ["gateway-leaks", "gateway-outages"].map((name) => `${root}host-test/e2e/${name}.test.ts`);
const { status } = spawnSync(
	process.execPath,
	["--expose-gc", "--import", `${root}scripts/register.mjs`, "--test", "--test-reporter=spec", ...files],
	{ stdio: "inherit", cwd: root, env: { ...process.env, XS_MCP_SOAK: "1" } },
);
process.exit(status ?? 1);
