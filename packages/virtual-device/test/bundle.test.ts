import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { VIRTUAL_BOARD } from "../src/boards.js";
import { bundle } from "../src/bundle.js";
import { startV8Engine } from "../src/engine/build-xs.js";

/** Posts the names of the realm's globals. */
const NAMES = "post(JSON.stringify(Object.getOwnPropertyNames(globalThis)))";

it("a bundle adds only the globals that the engine calls", async (t) => {
	const engine = await startV8Engine({});
	t.after(() => engine.close());
	const config = { backend: "ws://127.0.0.1:1/" };
	const firmware = { capacity: 0, isOnTrial: false };
	const hostConfig = { config, settings: {}, macAddress: "", board: VIRTUAL_BOARD, firmware };
	await engine.run(`globalThis.hostConfig=${JSON.stringify(hostConfig)}`);
	const [before] = await engine.run(NAMES);
	await engine.run(await bundle());
	const [after] = await engine.run(NAMES);
	const added = after?.header.filter((name) => !before?.header.includes(name));
	assert.deepEqual(added, ["onHostMessage", "abort"]);
});

it("a bundle with an unknown sensor fails with the nearest name", async () => {
	const file = `${temporaryFolder()}/main.ts`;
	writeFileSync(file, 'import SHT31 from "embedded:sensor/Humidity-Temperature/SHT31";\nnew SHT31({});\n');
	await assert.rejects(
		bundle(file),
		/SHT31: not a sensor of the virtual device\. Did you mean embedded:sensor\/Humidity-Temperature\/SHT3x\?/,
	);
});
