import { FIRMWARE } from "../../src/core/firmware.js";
import type { Hardware } from "../../src/hardware/hardware.js";
import { heldBytes } from "../../src/hardware/pictures.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { callTool, clientOf, words } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

// The tools whose order and parts older clients and backends count on: a tool that is added needs no place here.
const COMMON = [
	"self.get_device_status",
	"self.audio_speaker.set_volume",
	"self.screen.set_brightness",
	"self.screen.set_theme",
	"self.camera.take_photo",
	"self.screen.set_emotion",
	"self.screen.show_text",
	"self.audio_speaker.chime",
	"self.audio_speaker.play",
	"self.audio_speaker.stop",
];
const USER = [
	"self.assets.set_download_url",
	"self.get_system_info",
	"self.reboot",
	"self.screen.get_info",
	"self.screen.preview_image",
	"self.screen.snapshot",
	"self.upgrade_firmware",
];

const names = (board: Hardware, withUserTools = true): string[] => clientOf(board).names({ withUserTools });

const known = (listed: readonly string[]): string[] =>
	listed.filter((name) => COMMON.includes(name) || USER.includes(name));

interface Listed {
	readonly name: string;
	readonly title?: string;
	readonly annotations: Readonly<Record<string, unknown>>;
	readonly outputSchema?: { readonly type: string };
}

const makeBoard = () => new FakeBoard();

export default suite("tools of every board", {
	"are listed common first, then for users, in an order that stays"() {
		const common = names(new FakeBoard(), false);
		equal(known(common), COMMON);
		equal(names(new FakeBoard()).slice(0, common.length), common);
		equal(known(names(new FakeBoard())), [...COMMON, ...USER]);
	},
	"tell the whole condition, and only of what is there"() {
		equal(JSON.parse(words(clientOf(new FakeBoard()).call(COMMON[0] as string))), {
			audio_speaker: { volume: 70 },
			screen: { brightness: 75, theme: "light" },
			battery: { level: 88, charging: true },
			network: { type: "wifi", ssid: "home", signal: "strong" },
			chip: { temperature: 41.5 },
		});
		equal(words(clientOf({}).call(COMMON[0] as string)), "{}");
	},
	"have words for signal strength"() {
		for (const [rssi, word] of [
			[-60, "strong"],
			[-61, "medium"],
			[-70, "medium"],
			[-71, "weak"],
		] as const) {
			const network = { ...new FakeBoard().network, rssi };
			equal(JSON.parse(words(clientOf({ network }).call(COMMON[0] as string))).network.signal, word);
		}
	},
	"set what they are told, and say what is true then, as the part has it": given(makeBoard, ({ screen }) => {
		const set: number[] = [];
		const speaker = {
			/** It is as loud as it can be. */
			set volume(volume: number) {
				set.push(volume);
			},
			get volume() {
				return 80;
			},
		};
		const client = clientOf({ screen, speaker });
		client.initialize("2025-11-25");
		for (const [name, args, state] of [
			["self.audio_speaker.set_volume", { volume: 0 }, { volume: 80 }],
			["self.screen.set_brightness", { brightness: 100 }, { brightness: 100 }],
			["self.screen.set_theme", { theme: "dark" }, { theme: "dark" }],
		] as const) {
			const { content, structuredContent } = client.call(name, args).result;
			equal([content, structuredContent], [[{ type: "text", text: JSON.stringify(state) }], state]);
		}
		equal([set, screen.brightness, screen.theme], [[0], 100, "dark"]);
	}),
	"reject arguments out of range, and leave the part as it is": given(makeBoard, (board) => {
		const client = clientOf(board);
		for (const volume of [-1, 101, 0.5, "50", null]) {
			matches(client.call("self.audio_speaker.set_volume", { volume }).error.message, /^volume: expected/);
		}
		matches(
			client.call("self.screen.set_theme", { theme: "blue" }).error.message,
			/^theme: expected one of "light", "dark"/,
		);
		equal([board.speaker.volume, board.screen.theme], [70, "light"]);
	}),
	async "return the photo itself where nobody explains it, if it fits a message and the client takes pictures"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		client.initialize("2025-06-18");
		const { result } = await callTool(client, "self.camera.take_photo", { question: "?" });
		equal(result, { content: [{ type: "image", data: "UEhPVE8=", mimeType: "image/jpeg" }], isError: false });
		equal(board.requests.length, 0);
		const large = heldBytes(new Uint8Array(6_001));
		const other = clientOf({ ...board, camera: { capture: async () => large } } as Hardware);
		other.initialize("2025-06-18");
		const failed = (await callTool(other, "self.camera.take_photo", { question: "?" })).result;
		equal(failed.isError, true);
		matches(failed.content[0].text, /no vision service.*6001 bytes \(limit 6000\)/);
	},
	"tell what the device is made of": given(makeBoard, (board) => {
		board.settings.set("board", "uuid", "u-1");
		equal(JSON.parse(words(clientOf(board).call("self.get_system_info"))), {
			version: 2,
			flash_size: 4_194_304,
			mac_address: board.system.macAddress,
			uuid: "u-1",
			application: { name: "xs-mcp", version: FIRMWARE.version },
		});
	}),
	"restart a second after the answer": given(makeBoard, (board) => {
		equal(words(clientOf(board).call("self.reboot")), "true");
		equal(board.restarts, [1000]);
	}),
	"tell the screen's size, and keep where its assets are": given(makeBoard, (board) => {
		const client = clientOf(board);
		equal(JSON.parse(words(client.call("self.screen.get_info"))), { width: 320, height: 240, monochrome: false });
		equal(words(client.call("self.assets.set_download_url", { url: "http://a" })), "true");
		equal(board.settings.get("assets", "download_url"), "http://a");
		equal(JSON.parse(words(client.call("self.get_system_info"))).assets, { download_url: "http://a" });
	}),
	"are absent each with the part it needs"() {
		const needs: Partial<Record<keyof Hardware, readonly string[]>> = {
			speaker: ["self.audio_speaker.set_volume"],
			player: ["self.audio_speaker.play", "self.audio_speaker.stop", "self.audio_speaker.chime"],
			screen: [
				"self.screen.set_brightness",
				"self.screen.set_theme",
				"self.screen.show_text",
				"self.screen.set_emotion",
				"self.screen.get_info",
			],
			camera: ["self.camera.take_photo"],
			system: ["self.get_system_info", "self.reboot"],
			installer: ["self.upgrade_firmware"],
			snapshot: ["self.screen.snapshot"],
			preview: ["self.screen.preview_image"],
			settings: ["self.assets.set_download_url"],
			http: ["self.camera.take_photo", "self.screen.snapshot", "self.screen.preview_image", "self.audio_speaker.play"],
			battery: [],
			network: [],
			thermometer: [],
		};
		for (const [part, tools] of Object.entries(needs)) {
			const expected = [...COMMON, ...USER].filter((name) => !tools.includes(name));
			equal(known(names({ ...new FakeBoard(), [part]: undefined } as Hardware)), expected, `without ${part}`);
		}
		equal(known(names({})), ["self.get_device_status"]);
	},
	"are marked as the user's, those that are, and no others"() {
		const { tools } = clientOf(new FakeBoard()).ask("tools/list", { withUserTools: true }).result;
		const common = names(new FakeBoard(), false);
		for (const { name, annotations, description } of tools) {
			equal(annotations?.audience, common.includes(name) ? undefined : ["user"], name);
			ok(description.length > 10, name);
		}
	},
	"have a title, and say of themselves what clients would else assume the worst of"() {
		const client = clientOf(new FakeBoard());
		client.ask("initialize", { protocolVersion: "2025-11-25" });
		const first = client.ask("tools/list", { withUserTools: true }).result;
		const second = client.ask("tools/list", { withUserTools: true, cursor: first.nextCursor }).result;
		const tools = [...first.tools, ...second.tools];
		equal(second.nextCursor, undefined);
		const which = (hint: string): string[] =>
			tools.filter((tool: Listed) => tool.annotations[hint] === true).map(({ name }: Listed) => name);
		for (const { name, title, annotations } of tools as Listed[]) {
			ok((title as string).length > 3, name);
			for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
				equal(typeof annotations[hint], "boolean", `${name}: ${hint}`);
			}
		}
		ok(!which("readOnlyHint").includes("self.camera.take_photo"), "people near a camera want to be asked");
		equal(which("destructiveHint"), ["self.reboot", "self.upgrade_firmware"]);
		equal(which("openWorldHint"), [
			"self.camera.take_photo",
			"self.audio_speaker.play",
			"self.screen.preview_image",
			"self.screen.snapshot",
			"self.upgrade_firmware",
		]);
		const withSchema = tools
			.filter((tool: Listed) => tool.outputSchema?.type === "object")
			.map(({ name }: Listed) => name);
		ok(withSchema.includes("self.get_device_status") && withSchema.includes("self.get_system_info"), withSchema.join());
	},
	"tell of each part alone, and leave out what a part does not know"() {
		const { speaker, screen, battery, thermometer } = new FakeBoard();
		const cases: [Hardware, object][] = [
			[{ speaker }, { audio_speaker: { volume: 70 } }],
			[{ screen }, { screen: { brightness: 75, theme: "light" } }],
			[{ battery }, { battery: { level: 88, charging: true } }],
			[{ thermometer }, { chip: { temperature: 41.5 } }],
			[{ network: { type: "ethernet", online: true, onChange: undefined } }, { network: { type: "ethernet" } }],
			[
				{ network: { type: "cellular", rssi: 0, online: true, onChange: undefined } },
				{ network: { type: "cellular", signal: "strong" } },
			],
		];
		for (const [board, status] of cases) {
			const client = clientOf(board);
			client.initialize("2025-06-18");
			const { result } = client.call("self.get_device_status");
			equal([JSON.parse(result.content[0].text), result.structuredContent], [status, status]);
		}
	},
	"must name the parts that they use: the error has the tool's name"() {
		const definition = { name: "self.lamp.on", description: "", run: () => true } as never;
		throws(() => defineTool(definition), /^tool self\.lamp\.on: needs: expected/);
	},
});
