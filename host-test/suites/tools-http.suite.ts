import type { Hardware, HttpRequest, HttpResponse } from "../../src/hardware/hardware.js";
import { heldBytes } from "../../src/hardware/pictures.js";
import { type Client, callTool, clientOf, type Wire, words } from "../doubles/client.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

const VISION = { vision: { url: "https://v/explain", token: "t" } };

function seeing(board: Hardware = new FakeBoard()): Client<Hardware> {
	const client = clientOf(board);
	client.initialize("2024-11-05", VISION);
	return client;
}

const photo = (client: Client<Hardware>, question = "?"): Promise<Wire> =>
	callTool(client, "self.camera.take_photo", { question });

function form(board: FakeBoard): string {
	const [request] = board.requests;
	const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(request?.headers?.get("Content-Type") ?? "")?.[1];
	ok(boundary !== undefined && boundary.length <= 70, "a boundary as RFC 2046 has it");
	return (board.bodies[0] ?? "").split(`--${boundary}`).join("BOUNDARY");
}

const makeBoard = () => new FakeBoard();

export default suite("tools that use the network", {
	"upload a photo as a form, to the letter": given(makeBoard, async (board) => {
		board.settings.set("board", "uuid", "u-1");
		await photo(seeing(board), "何ですか\r\n?");
		const { method, url, headers } = board.requests[0] as HttpRequest;
		equal([method, url], ["POST", VISION.vision.url]);
		equal(
			["Authorization", "Device-Id", "Client-Id"].map((name) => headers?.get(name)),
			["Bearer t", board.system.macAddress, "u-1"],
		);
		equal(
			form(board),
			'BOUNDARY\r\nContent-Disposition: form-data; name="question"\r\n\r\n何ですか\r\n?\r\n' +
				'BOUNDARY\r\nContent-Disposition: form-data; name="file"; filename="camera.jpg"\r\nContent-Type: image/jpeg\r\n\r\nPHOTO\r\n' +
				"BOUNDARY--\r\n",
		);
	}),
	"ask what a photo shows if the call has no question": given(makeBoard, async (board) => {
		await callTool(seeing(board), "self.camera.take_photo", {});
		matches(form(board), /name="question"\r\n\r\nWhat does the photo show\?\r\n/);
	}),
	"hand a photo on as it is, and close it": given(makeBoard, async (board) => {
		let closed = 0;
		const taken = heldBytes(new Uint8Array(256), () => {
			closed += 1;
		});
		const http = {
			request: async (request: HttpRequest): Promise<HttpResponse> => {
				ok(request.body?.includes(taken), "the photo itself is a part of the body");
				equal(closed, 0);
				return board.response;
			},
		};
		await photo(seeing({ ...board, camera: { capture: async () => taken }, http }));
		equal(closed, 1);
	}),
	"close a picture that cannot be uploaded": given(makeBoard, async (board) => {
		const http = { request: () => Promise.reject(new Error("no route")) };
		await photo(seeing({ ...board, http }));
		await callTool(seeing({ ...board, http }), "self.screen.snapshot", { url: "http://s/" });
		equal([board.open, board.snapshots], [0, [80]]);
	}),
	"send only the headers that they have something for": given(makeBoard, async ({ camera, http, requests }) => {
		const client = clientOf({ camera, http });
		client.initialize("2024-11-05", { vision: { url: "http://v/x" } });
		await photo(client);
		equal([...(requests[0]?.headers?.keys() ?? [])], ["Mcp-Request-Id", "Content-Type"]);
	}),
	async "name the request of a photo by its id, unless that is a text, which could break the header"() {
		for (const [id, named] of [
			[7, "7"],
			["7", undefined],
			["x\r\nY: z", undefined],
		] as const) {
			const board = new FakeBoard();
			const client = seeing(board);
			const params = { name: "self.camera.take_photo", arguments: { question: "?" } };
			await client.request("tools/call", params, id);
			equal(board.requests[0]?.headers?.get("Mcp-Request-Id"), named);
		}
	},
	"pass on what the vision service says, word for word": given(makeBoard, async (board) => {
		const said = '{"success": true, "text": "猫 \\"Tama\\""}';
		board.response = { status: 201, body: ArrayBuffer.fromString(said) };
		equal((await photo(seeing(board))).result, { content: [{ type: "text", text: said }], isError: false });
	}),
	"ask the vision service that the backend named last": given(makeBoard, async (board) => {
		const client = seeing(board);
		client.initialize("2024-11-05");
		matches((await photo(client)).error.message, /no vision service/);
		client.initialize("2024-11-05", { vision: { url: "http://second/", token: "t2" } });
		await photo(client);
		equal([board.requests.length, board.requests[0]?.url], [1, "http://second/"]);
	}),
	async "report every status other than success, with URL and number"() {
		for (const status of [199, 300, 302, 404, 500]) {
			const board = new FakeBoard();
			board.response = { status, body: ArrayBuffer.fromString("PAGE") };
			const client = seeing(board);
			for (const [name, url, args] of [
				["self.camera.take_photo", VISION.vision.url, { question: "?" }],
				["self.screen.snapshot", "http://s/", { url: "http://s/" }],
				["self.screen.preview_image", "http://p/", { url: "http://p/" }],
			] as const) {
				const answer = await callTool(client, name, args);
				equal(answer.error.message, `${url} answered with HTTP status ${status}`);
			}
			equal(board.pictures, []);
		}
	},
	async "report a part or a network that fails, in its own words"() {
		const fail = (message: string) => async (): Promise<never> => {
			throw new Error(message);
		};
		const board = new FakeBoard();
		const broken: [Hardware, string, string][] = [
			[{ ...board, camera: { capture: fail("lens cap") } }, "self.camera.take_photo", "lens cap"],
			[{ ...board, http: { request: fail("no route") } }, "self.camera.take_photo", "no route"],
			[{ ...board, snapshot: { take: fail("no memory") } }, "self.screen.snapshot", "no memory"],
			[
				{ ...board, preview: { begin: () => ({ ...board.preview.begin(), end: fail("no picture") }) } },
				"self.screen.preview_image",
				"no picture",
			],
		];
		for (const [hardware, name, message] of broken) {
			const answer = await callTool(seeing(hardware), name, { question: "?", url: "http://x/" });
			equal(answer.error.message, message);
		}
	},
	"upload a snapshot as a form with one JPEG file": given(makeBoard, async (board) => {
		const client = clientOf(board);
		equal(words(await callTool(client, "self.screen.snapshot", { url: "http://s/up" })), "true");
		const [request] = board.requests;
		equal([request?.method, request?.url], ["POST", "http://s/up"]);
		equal(
			form(board),
			'BOUNDARY\r\nContent-Disposition: form-data; name="file"; filename="screenshot.jpg"\r\nContent-Type: image/jpeg\r\n\r\nSCREEN\r\nBOUNDARY--\r\n',
		);
		await callTool(client, "self.screen.snapshot", { url: "http://s/up", quality: 1 });
		equal(board.snapshots, [80, 1]);
	}),
	"fetch the picture to show": given(makeBoard, async (board) => {
		board.response = { status: 200, body: ArrayBuffer.fromString("PICTURE") };
		equal(words(await callTool(clientOf(board), "self.screen.preview_image", { url: "https://p/cat.png" })), "true");
		equal(board.pictures, ["PICTURE"]);
		const [request] = board.requests;
		equal([request?.method, request?.url, board.cancelled], ["GET", "https://p/cat.png", 0]);
	}),
	"give a picture up that does not come whole": given(makeBoard, async (board) => {
		const http = {
			async request({ onPiece }: HttpRequest): Promise<HttpResponse> {
				await onPiece?.(ArrayBuffer.fromString("half"), 8);
				throw new Error("the connection ended");
			},
		};
		const answer = await callTool(clientOf({ ...board, http }), "self.screen.preview_image", { url: "http://p/" });
		equal([answer.error.message, board.cancelled, board.pictures], ["the connection ended", 1, []]);
	}),
	"end the download of a picture if the client cancels the call": given(makeBoard, async (board) => {
		const http = {
			request({ onPiece, onOpen }: HttpRequest): Promise<HttpResponse> {
				void onPiece?.(ArrayBuffer.fromString("half"), 8);
				return new Promise((_, reject) => onOpen?.(() => reject(new Error("cancelled"))));
			},
		};
		const client = clientOf({ ...board, http });
		void callTool(client, "self.screen.preview_image", { url: "http://p/" });
		client.cancel(1);
		await settled();
		equal([board.cancelled, board.pictures], [1, []]);
	}),
	"reject arguments out of range before they do anything": given(makeBoard, async (board) => {
		const client = clientOf(board);
		for (const [name, args, message] of [
			["self.screen.snapshot", { url: "http://s", quality: 0 }, /^quality: expected an integer from 1 to 100, got 0$/],
			["self.screen.snapshot", { url: "http://s", quality: 101 }, /^quality: expected/],
			["self.screen.snapshot", { quality: 50 }, /^url: missing/],
			["self.screen.snapshot", { url: "" }, /^url: expected a string from 1 to 1000 characters, got ""$/],
			["self.screen.preview_image", {}, /^url: missing/],
			["self.upgrade_firmware", { url: 5 }, /^url: expected/],
			["self.assets.set_download_url", {}, /^url: missing/],
			["self.camera.take_photo", { question: 5 }, /^question: expected a string of at most 1000 characters, got 5$/],
		] as const) {
			matches((await callTool(client, name, args)).error.message, message);
		}
		equal([board.snapshots, board.requests, board.shown], [[], [], []]);
	}),
	async "answer at once if firmware is to be installed, whatever becomes of it"() {
		for (const upgradeFails of [false, true]) {
			const board = Object.assign(new FakeBoard(), { upgradeFails });
			equal(words(clientOf(board).call("self.upgrade_firmware", { url: "http://f" })), "true");
			await settled();
			equal(board.installed, [{ url: "http://f" }]);
		}
	},
	async "wait for the firmware to be installed if the client asks for progress, and report what goes wrong"() {
		const board = Object.assign(new FakeBoard(), { upgradeFails: true });
		const source = { url: "http://f", sha256: "ab", signature: "cd", anyProject: true };
		const params = { name: "self.upgrade_firmware", arguments: source, _meta: { progressToken: "p" } };
		const client = clientOf(board);
		const [progress, answer] = await client.request("tools/call", params);
		equal(progress.params, { progressToken: "p", progress: 1, total: 2 });
		equal(answer.error.message, "no such firmware");
		equal(board.installed, [source]);
	},
});
