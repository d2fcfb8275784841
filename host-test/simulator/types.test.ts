import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { configureBuild, findTypeErrors } from "xs-mcp/moddable/mcconfig";
import { NAMED } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { noSdk, sdk } from "../support/sdk.js";

/** Folders of manifests, each with the targets that it is built for. */
const BUILDS: readonly (readonly [folder: string, targets: readonly string[]])[] = [
	["", [sdk?.host ?? "lin", ...NAMED, "esp32:./host-test/fixtures/qemu"]],
	["host-test", ["lin"]],
	["examples/embed", ["esp32"]],
	["examples/pump", ["esp32"]],
	["host-test/fixtures/air", ["esp32", "lin"]],
];

describe("a build by mcconfig has no type errors", { skip: noSdk }, () => {
	for (const [folder, targets] of BUILDS) {
		for (const target of targets) {
			it(`of ${folder || "the firmware"} for ${target}`, async () => {
				assert.equal(findTypeErrors(await configureBuild(sdk, join(ROOT, folder), target)), "");
			});
		}
	}
});
