// npm run soak: hosts and devices come and go a thousand times, networks fail for a minute, and a chip gets 60,000
// hostile messages. About fifteen minutes. npm test does a little of the same.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const files = ["e2e/gateway-leaks", "e2e/gateway-outages", "node/hostile"].map(
	(name) => `${root}host-test/${name}.test.ts`,
);
const { status } = spawnSync(
	process.execPath,
	["--expose-gc", "--import", `${root}scripts/register.mjs`, "--test", "--test-reporter=spec", ...files],
	{ stdio: "inherit", cwd: root, env: { ...process.env, XS_MCP_SOAK: "1", XS_MCP_HOSTILE: "60000" } },
);
process.exit(status ?? 1);
