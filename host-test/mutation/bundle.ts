import { readdirSync } from "node:fs";
import { ROOT } from "xs-mcp/root";
import { bundleTests } from "../runner/bundle.js";
import { FULL_ONLY, testsFor } from "../runner/select.js";

const suites = readdirSync(`${ROOT}host-test/suites`)
	.filter((name) => name.endsWith(".suite.ts"))
	.map((name) => `host-test/suites/${name}`);
const tests = ["packages/manager/test/core", "packages/gateway/test/mcp", "packages/gateway/test/catalog"]
	.flatMap(testsFor)
	.filter((path) => !FULL_ONLY.test(path));

await bundleTests([...suites, ...tests], { folder: `${ROOT}.mutation`, isKept: true });
// The bundler would keep this process.
process.exit(0);
