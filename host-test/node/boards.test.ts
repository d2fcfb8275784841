import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { boardManifest, PRESETS, partsOfData } from "xs-mcp/build/board-manifest";
import { checkTarget, TARGETS } from "xs-mcp/build/check-board";
import { BARE, BARE_OPTIONAL, boardRow, COLUMNS, listBoards, loadTools, toolsOf } from "xs-mcp/moddable/boards";
import { configureBuild, linkForChip, measureData } from "xs-mcp/moddable/mcconfig";
import { findTarget, NAMED } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { BOARD_PROFILES } from "xs-mcp-virtual-device/boards";
import { ALL_KINDS } from "../../src/hardware/vocabulary.js";
import { messageLimits } from "../../src/protocols/transport.js";
import { readParts } from "../support/board-parts.js";
import { expectGenerated, expectSection } from "../support/expect-generated.js";
import { noSdk, sdk } from "../support/sdk.js";
import { temporaryFolder } from "../support/testing.js";

interface BoardManifest {
	readonly modules: object;
	readonly config: { readonly board: object };
}

describe("boards", () => {
	const names = [...PRESETS.keys(), "simulator", "virtual"];
	const partsOf = readParts(names);

	it("all have a system, settings and a network, which the application needs", () => {
		for (const [board, { parts }] of partsOf) {
			for (const part of ["system", "settings", "network"] as const) {
				assert.ok(parts.includes(part), `${board}: ${part}`);
			}
		}
	});

	it("have the parts that the source of a bare chip opens", () => {
		assert.deepEqual(partsOf.get("esp32"), { parts: BARE, optional: BARE_OPTIONAL });
	});

	it("have the tools that their parts allow", async () => {
		const allTools = (await loadTools()).map(({ name }) => name);
		const withSpeaker = toolsOf(["speaker"]);
		assert.ok(withSpeaker.includes("self.audio_speaker.set_volume"));
		assert.ok(!withSpeaker.includes("self.screen.set_brightness"));
		const { parts: fixed = [], optional = [] } = partsOf.get("virtual") ?? {};
		// Optional, because a virtual device may stand for a board without them.
		const parts = [...fixed, ...optional].filter((part) => part !== "accessPoint");
		// One needs a Wi-Fi, the others come with the features conversation, parts and rules.
		const absent = allTools.filter((name) => !toolsOf(parts).includes(name));
		const ofParts = ALL_KINDS.flatMap(({ plural, tool }) => (parts.includes(plural) || !tool ? [] : [tool.name]));
		assert.deepEqual(
			absent.sort(),
			[
				...["self.assistant.ask_user", "self.assistant.say", "self.remote_wakeup", ...ofParts].sort(),
				...[
					"self.rule.delete",
					"self.rule.list",
					"self.system.reconfigure_wifi",
					"self.timer.cancel",
					"self.timer.list",
					"self.timer.set",
				],
			].sort(),
		);
	});

	it("have data without a fault", () => {
		for (const data of PRESETS.values()) {
			checkTarget(data);
		}
	});

	it("have in their builds the module that opens each of their members", () => {
		for (const [name, data] of PRESETS) {
			const { modules, config } = boardManifest(name, data, "src", "./sdkconfig") as BoardManifest;
			for (const member of Object.keys(config.board)) {
				assert.ok(`src/hardware/drivers/open-${member}` in modules, `${name}: ${member}`);
			}
		}
	});

	it("are in docs/boards.md, and with their memory and notes in docs/boards.csv", () => {
		expectSection("docs/boards.md", "boards", listBoards());
		expectSection("docs/boards.md", "parts", describeParts());
		const text = readFileSync(join(ROOT, "docs/boards.csv"), "utf8");
		const rows = TARGETS.map((target) => {
			const old = text.split("\n").find((row) => row.startsWith(`${target},`));
			return boardRow(target, (old ?? ",").split(",").slice(-2));
		});
		expectGenerated("docs/boards.csv", `${[COLUMNS.join(","), ...rows].join("\n")}\n`);
	});

	it("leave 5 % of their partitions free, as measured", () => {
		const [, ...rows] = readFileSync(join(ROOT, "docs/boards.csv"), "utf8").trimEnd().split("\n");
		assert.deepEqual(
			rows.filter((row) => !row.endsWith(",") && !(Number(row.split(",").at(-1)) >= 5)),
			[],
		);
	});

	it("are simulated with their parts", () => {
		const { parts: all = [], optional = [] } = partsOf.get("virtual") ?? {};
		const { parts } = BOARD_PROFILES.get("m5stack_cores3") ?? assert.fail();
		assert.deepEqual([...parts].sort(), ["battery", "camera", "codec", "player", "preview"]);
		const simulated = [...all, ...optional] as readonly string[];
		assert.deepEqual(
			[...BOARD_PROFILES.values()].flatMap((profile) => profile.parts.filter((part) => !simulated.includes(part))),
			[],
		);
	});

	it("that record while they play are in docs/sound.md", () => {
		const text = readFileSync(join(ROOT, "docs/sound.md"), "utf8");
		const [paragraph = ""] = text.split("\n\n").filter((each) => each.includes("`realtime`"));
		assert.deepEqual(
			[...BOARD_PROFILES.values()].filter(({ isFullDuplex }) => isFullDuplex).map(({ name }) => name),
			["virtual", ...[...paragraph.matchAll(/`esp32\/(\w+)`/g)].map(([, name]) => name)],
		);
	});

	it("take 400 KB of constant data at most with src/build/manifest_minimal.json", {
		skip: noSdk,
	}, async () => {
		const folder = temporaryFolder("xs-mcp-minimal-");
		const manifest = { build: { NAME: "xs-mcp" }, include: `${ROOT}src/build/manifest_minimal.json` };
		writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
		const linked = await linkForChip(sdk, folder, "esp32");
		const bytes = measureData(sdk, linked);
		assert.ok(bytes <= 400 * 1024, `${bytes} bytes`);
	});

	it("have every header of the SDK that their C includes, and its TCP only as ours includes it", {
		skip: noSdk,
	}, async () => {
		const { root } = sdk;
		const files = readdirSync(join(root, "modules"), { recursive: true, encoding: "utf8" });
		const headers = new Set(files.filter((file) => file.endsWith(".h")).map((file) => basename(file)));
		for (const name of NAMED) {
			const makefile = readFileSync(join(await configureBuild(sdk, ROOT, name), "makefile"), "utf8");
			assert.doesNotMatch(
				makefile,
				/socket\/lwip\/tcp\.(c|js)\b/,
				`${name} has the SDK's TCP, too: the linker takes one of both`,
			);
			const folders = [...makefile.matchAll(/^\t-I(\/\S+?)\\?$/gm)].map(([, folder = ""]) => folder);
			for (const [, source = ""] of makefile.matchAll(/\.c\.o: (\/\S+\.c) /g)) {
				for (const [, header = ""] of readFileSync(source, "utf8").matchAll(/^#include "([\w.-]+)"/gm)) {
					const found = [dirname(source), ...folders].some((folder) => existsSync(join(folder, header)));
					assert.ok(found || !headers.has(header), `${name}: ${source} includes ${header}`);
				}
			}
		}
	});

	describe("memory", { skip: noSdk }, () => {
		const memoryOf = async (name: string) =>
			readMemory(await configureBuild(sdk, ROOT, name), findTarget(sdk, name).chip);

		it("has the size of the board's flash", async () => {
			const MEGABYTES = { esp32: 4, "esp32/m5atom_s3": 8, "esp32/m5stack_core2": 16, "esp32/m5stack_cores3": 16 };
			for (const [name, megabytes] of Object.entries(MEGABYTES)) {
				assert.equal((await memoryOf(name)).flashBytes, megabytes * 1024 * 1024, name);
			}
		});

		it("has the larger heap only if malloc uses PSRAM", async () => {
			const small = await memoryOf("esp32");
			assert.ok(!small.usesPsram);
			for (const name of NAMED.filter((each) => PRESETS.has(basename(each)))) {
				const { chunkBytes, chunkSetting, usesPsram } = await memoryOf(name);
				assert.equal(chunkBytes > small.chunkBytes, usesPsram, name);
				assert.equal(messageLimits(chunkSetting).maxMessageBytes, chunkBytes / 8, name);
			}
		});
	});
});

/** The table of parts, and the tools that each adds to those of a bare chip. */
function describeParts(): string[] {
	const bare = [...BARE, ...BARE_OPTIONAL];
	const parts = [...new Set([...PRESETS.values()].flatMap(partsOfData))].sort();
	const rows = parts.flatMap((part) => {
		const tools = toolsOf([...bare, part]).filter((tool) => !toolsOf(bare).includes(tool));
		return tools.length === 0 ? [] : [`| \`${part}\` | ${tools.map((tool) => `\`${tool}\``).join(", ")} |`];
	});
	return ["| part | tools |", "| --- | --- |", ...rows];
}

const MEGABYTE = 1024 * 1024;

/** `manifest_flat.json`: all manifests merged by mcconfig. */
interface FlatManifest {
	readonly creation: { readonly chunk: { readonly initial: number } };
	readonly config: { readonly chunkBytes: number };
}

/**
 * Reads the memory of a build, in bytes, from what mcconfig has made of the manifests and the target's ESP-IDF settings.
 *
 * @param folder of the program in the build
 * @param chip ESP-IDF's name: "esp32s3"
 */
function readMemory(folder: string, chip: string) {
	const read = (path: string): string => readFileSync(join(folder, path), "utf8");
	const { creation, config }: FlatManifest = JSON.parse(read("manifest_flat.json"));
	const options = read(`xsProj-${chip}/sdkconfig.mc`).matchAll(/^CONFIG_(\w+)=(.*)$/gm);
	const settings = new Map([...options].map(([, key = "", value]) => [key, value]));
	const isSet = (key: string): boolean => settings.get(key) === "y";
	// A choice of ESP-IDF takes the last option that is set: the SDK's base file has 4 MB.
	const flash = [...settings.keys()].filter((key) => key.startsWith("ESPTOOLPY_FLASHSIZE_") && isSet(key)).at(-1);
	return {
		flashBytes: Number(/\d+/.exec(flash ?? "")?.[0]) * MEGABYTE,
		/** Whether malloc uses the chip's PSRAM. */
		usesPsram: isSet("SPIRAM") && !isSet("SPIRAM_USE_CAPS_ALLOC"),
		/** Initial and only memory of XS for strings and buffers, and the setting of that name, which limits messages. */
		chunkBytes: creation.chunk.initial,
		chunkSetting: config.chunkBytes,
	};
}
