import type { Hardware } from "../../src/hardware/hardware.js";
import { isOffered } from "../../src/hardware/needs.js";
import { HeldBytes } from "../../src/hardware/pictures.js";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { Client, settled, type Wire } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { TOOLS } from "../doubles/tools.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

// The tools whose order and parts older clients and backends count on: a tool that is added needs no place here.
const COMMON = [
	"self.get_device_status",
	"self.camera.take_photo",
	"self.screen.set_brightness",
	"self.screen.set_emotion",
	"self.screen.set_theme",
	"self.screen.show_text",
	"self.audio_speaker.chime",
	"self.audio_speaker.play",
	"self.audio_speaker.set_volume",
	"self.audio_speaker.stop",
];
const USER = [
	"self.get_system_info",
	"self.reboot",
	"self.screen.preview_image",
	"self.screen.get_info",
	"self.screen.snapshot",
	"self.assets.set_download_url",
	"self.upgrade_firmware",
];

function clientOf(board: Hardware): Client<Hardware> {
	return new Client<Hardware>({ context: board, tools: TOOLS.filter((tool) => isOffered(tool, board)) });
}

const names = (board: Hardware, withUserTools = true): string[] =>
	clientOf(board)
		.ask("tools/list", { withUserTools })
		.result.tools.map(({ name }: { name: string }) => name);

/** The names that are listed above. */
const known = (listed: readonly string[]): string[] =>
	listed.filter((name) => COMMON.includes(name) || USER.includes(name));

/** The text of a call's only content. */
const words = ({ result }: Wire): string => result.content[0].text;

/** Calls a tool that takes its time. */
async function call(client: Client<Hardware>, name: string, args: object = {}): Promise<Wire> {
	client.session.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
	await settled();
	return client.heard()[0];
}

/** A tool as it is listed. */
interface Listed {
	readonly name: string;
	readonly title?: string;
	readonly annotations: Readonly<Record<string, unknown>>;
	readonly outputSchema?: { readonly type: string };
}

export default suite("tools of every board", {
	"are listed common first, then for users, in an order that stays"() {
		const common = names(new FakeBoard(), false);
		equal(known(common), COMMON);
		equal(names(new FakeBoard()).slice(0, common.length), common);
		equal(known(names(new FakeBoard())), [...COMMON, ...USER]);
	},
	"are absent if their part is"() {
		equal(known(names({})), ["self.get_device_status"]);
		equal(known(names({ speaker: { volume: 1 } })), ["self.get_device_status", "self.audio_speaker.set_volume"]);
		const { camera } = new FakeBoard();
		ok(!names({ camera }).includes("self.camera.take_photo"), "a camera is no use without http");
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
	"set volume, brightness and theme"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		equal(words(client.call("self.audio_speaker.set_volume", { volume: 0 })), "true");
		equal(words(client.call("self.screen.set_brightness", { brightness: 100 })), "true");
		equal(words(client.call("self.screen.set_theme", { theme: "dark" })), "true");
		equal([board.speaker.volume, board.screen.brightness, board.screen.theme], [0, 100, "dark"]);
	},
	"say what is true after setting, as the part has it"() {
		const board = new FakeBoard();
		const speaker = {
			set volume(_volume: number) {
				// It is as loud as it can be.
			},
			get volume() {
				return 80;
			},
		};
		const client = clientOf({ screen: board.screen, speaker });
		client.initialize("2025-11-25");
		for (const [name, args, state] of [
			["self.audio_speaker.set_volume", { volume: 90 }, { volume: 80 }],
			["self.screen.set_brightness", { brightness: 40 }, { brightness: 40 }],
			["self.screen.set_theme", { theme: "dark" }, { theme: "dark" }],
		] as const) {
			const { content, structuredContent } = client.call(name, args).result;
			equal([content, structuredContent], [[{ type: "text", text: "true" }], state]);
		}
	},
	"reject arguments out of range, and leave the part as it is"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		for (const volume of [-1, 101, 0.5, "50", null]) {
			matches(client.call("self.audio_speaker.set_volume", { volume }).error.message, /^volume: expected/);
		}
		matches(
			client.call("self.screen.set_theme", { theme: "blue" }).error.message,
			/^theme: expected one of "light", "dark"/,
		);
		equal([board.speaker.volume, board.screen.theme], [70, "light"]);
	},
	async "have a photo explained by the client's vision service"() {
		const board = new FakeBoard();
		board.settings.set("board", "uuid", "u-1");
		board.response = { status: 200, body: ArrayBuffer.fromString('{"text":"a cat"}') };
		const client = clientOf(board);
		client.initialize("2024-11-05", { vision: { url: "http://v/x", token: "t" } });
		equal(words(await call(client, "self.camera.take_photo", { question: "what?" })), '{"text":"a cat"}');
		const [request] = board.requests;
		equal([request?.method, request?.url], ["POST", "http://v/x"]);
		equal(request?.headers?.get("Authorization"), "Bearer t");
		equal([request?.headers?.get("Device-Id"), request?.headers?.get("Client-Id")], [board.system.macAddress, "u-1"]);
		const boundary = /boundary=(.*)$/.exec(request?.headers?.get("Content-Type") ?? "")?.[1] as string;
		const body = (board.bodies[0] ?? "").split(`--${boundary}`);
		equal([body.length, body[3]], [4, "--\r\n"]);
		matches(body[1] as string, /name="question"\r\n\r\nwhat\?\r\n$/);
		matches(body[2] as string, /name="file"; filename="camera\.jpg"\r\nContent-Type: image\/jpeg\r\n\r\nPHOTO\r\n$/);
	},
	async "say so when nobody can explain a photo"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		const blind = await call(client, "self.camera.take_photo", { question: "?" });
		equal(board.requests.length, 0);
		matches(blind.error.message, /vision/);
		client.initialize("2024-11-05", { vision: { url: "http://v/x" } });
		board.response = { status: 500, body: new ArrayBuffer(0) };
		const failed = await call(client, "self.camera.take_photo", { question: "?" });
		matches(failed.error.message, /http:\/\/v\/x answered with HTTP status 500/);
	},
	async "return the photo itself where nobody explains it, if it fits a message and the client takes pictures"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		client.initialize("2025-06-18");
		const { result } = await call(client, "self.camera.take_photo", { question: "?" });
		equal(result, { content: [{ type: "image", data: "UEhPVE8=", mimeType: "image/jpeg" }], isError: false });
		equal(board.requests.length, 0);
		const large = new HeldBytes(new Uint8Array(6_001));
		const other = clientOf({ ...board, camera: { capture: async () => large } } as Hardware);
		other.initialize("2025-06-18");
		const failed = (await call(other, "self.camera.take_photo", { question: "?" })).result;
		equal(failed.isError, true);
		matches(failed.content[0].text, /no vision service.*6001 bytes \(limit 6000\)/);
	},
	"tell what the device is made of"() {
		const board = new FakeBoard();
		board.settings.set("board", "uuid", "u-1");
		equal(JSON.parse(words(clientOf(board).call("self.get_system_info"))), {
			version: 2,
			flash_size: 4_194_304,
			mac_address: board.system.macAddress,
			uuid: "u-1",
			application: { name: "xs-mcp", version: FIRMWARE.version },
		});
	},
	"restart a second after the answer"() {
		const board = new FakeBoard();
		equal(words(clientOf(board).call("self.reboot")), "true");
		equal(board.restarts, [1000]);
	},
	async "work the screen for users"() {
		const board = new FakeBoard();
		const client = clientOf(board);
		equal(JSON.parse(words(client.call("self.screen.get_info"))), { width: 320, height: 240, monochrome: false });
		equal(words(await call(client, "self.screen.snapshot", { url: "http://s" })), "true");
		await call(client, "self.screen.snapshot", { url: "http://s", quality: 1 });
		equal(board.snapshots, [80, 1]);
		board.response = { status: 200, body: ArrayBuffer.fromString("PICTURE") };
		equal(words(await call(client, "self.screen.preview_image", { url: "http://p" })), "true");
		equal(board.pictures, ["PICTURE"]);
		equal(words(client.call("self.assets.set_download_url", { url: "http://a" })), "true");
		equal(board.settings.get("assets", "download_url"), "http://a");
		equal(JSON.parse(words(client.call("self.get_system_info"))).assets, { download_url: "http://a" });
	},
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
	"say no more to a client of 2024-11-05 than the C++ firmware does"() {
		const { tools } = clientOf(new FakeBoard()).ask("tools/list", { withUserTools: true }).result;
		for (const tool of tools) {
			const members = Object.keys(tool).filter((member) => member !== "annotations");
			equal(members, ["name", "description", "inputSchema"]);
			equal(Object.keys(tool.annotations ?? { audience: [] }), ["audience"]);
		}
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
