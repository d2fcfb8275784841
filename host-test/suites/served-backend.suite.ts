import { FakeBoard, FakeCodec } from "../doubles/fake-board.js";
import { FakeMqttClient, type FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeHttpClient } from "../doubles/fake-http-client.js";
import { startOn } from "../doubles/started-application.js";
import { equal, matches, ok, settled, suite } from "../harness.js";

const OTA_URL = "http://ota/";
const INTERVAL = 60_000;

function startFrom(board = new FakeBoard(), otaInterval = 60) {
	const requests = FakeHttpClient.made;
	const firstRequest = requests.length;
	const started = startOn({ board, built: { backend: "", otaUrl: OTA_URL, otaInterval } });
	const answer = async (status: number, value: object = {}): Promise<void> => {
		await settled();
		requests.at(-1)?.answer(status, JSON.stringify(value));
		await settled();
	};
	const fail = async (): Promise<void> => {
		requests.at(-1)?.fail();
		await settled();
	};
	const shown = () => Object.assign({}, ...board.shown);
	return { ...started, board, answer, fail, requests: () => requests.slice(firstRequest), shown };
}

async function startServed(otaInterval?: number) {
	const started = startFrom(undefined, otaInterval);
	await started.answer(200, websocket("first"));
	return started;
}

const websocket = (host: string) => ({ websocket: { url: `ws://${host}/path`, token: "t", version: 2 } });

export default suite("a device that knows only an otaUrl", {
	async "is activating until a backend is served, and then connects to it with its settings"() {
		const { application, answer, sockets, shown } = startFrom();
		equal([application.state, sockets().length], ["activating", 0]);
		await answer(200, websocket("first"));
		equal([application.state, sockets().length], ["connecting", 1]);
		const { host, path, headers } = (sockets()[0] as FakeWebSocketClient).options;
		equal([host, path], ["first", "/path"]);
		equal([headers.get("Authorization"), headers.get("Protocol-Version")], ["Bearer t", "2"]);
		equal(shown().backend, "ws://first/path");
	},
	async "takes mqtt before websocket, as the C++ firmware does"() {
		const { answer, shown } = startFrom(Object.assign(new FakeBoard(), { codec: new FakeCodec() }));
		const mqtt = { endpoint: "broker:1883", client_id: "c", publish_topic: "up" };
		await answer(200, { ...websocket("first"), mqtt });
		equal(shown().backend, "mqtt://broker:1883");
	},
	async "drops a command that may be retained, if the served backend is reached over MQTT"() {
		const { answer, log } = startFrom();
		const topics = { publish_topic: "up", subscribe_topic: "down" };
		await answer(200, { mqtt: { endpoint: "broker:1883", client_id: "c", ...topics } });
		const client = FakeMqttClient.made.at(-1) as FakeMqttClient;
		client.grant(10_000);
		client.options.onControl({ operation: 9, payload: [0] });
		client.arrive(['{"type":"system","command":"reboot"}']);
		ok(log.includes("command of type system before the backend's hello: dropped, it may be a retained message"));
	},
	async "says on the screen why there is no backend, until there is one"() {
		const { application, answer, fail, timer, shown, log } = startFrom();
		await fail();
		equal([application.state, shown().alert.status], ["activating", "No backend"]);
		matches(log.at(-1) ?? "", /^bootstrap failed: http:\/\/ota\/: no answer, next attempt in \d+ ms$/);
		timer.pass(10_000);
		await answer(200, websocket("first"));
		equal([application.state, shown().alert], ["connecting", { status: "", message: "" }]);
	},
	async "goes to another backend when one is served at the next check"() {
		const { answer, timer, sockets, requests, greet } = await startServed();
		greet();
		timer.pass(INTERVAL);
		equal(requests().length, 2);
		const before = sockets().length;
		await answer(200, websocket("second"));
		equal([sockets().length, sockets().at(-1)?.options.host], [before + 1, "second"]);
		ok(sockets().at(-2)?.closed, "the session with the first one has ended");
	},
	async "stays in its session when only the token is new, and shows that one when it connects again"() {
		const { answer, timer, sockets, greet } = await startServed();
		const socket = greet();
		timer.pass(INTERVAL);
		await answer(200, { websocket: { ...websocket("first").websocket, token: "new" } });
		equal([sockets().length, socket.closed], [1, false]);
		socket.options.onClose();
		timer.pass(INTERVAL);
		equal(sockets()[1]?.options.headers.get("Authorization"), "Bearer new");
	},
	async "asks within 10 s whether another backend is to be used if it cannot reach the one that was named"() {
		for (const interval of [86_400, 0]) {
			const { answer, timer, sockets, requests } = await startServed(interval);
			sockets()[0]?.options.onError?.(new Error("refused"));
			timer.pass(10_000);
			equal(requests().length, 2);
			await answer(200, websocket("second"));
			equal(sockets().at(-1)?.options.host, "second");
		}
	},
	async "asks ever less often while the backend that it is told cannot be reached"() {
		const { answer, timer, sockets, requests } = await startServed(86_400);
		for (let time = 0; time < 3_600_000; time += 10_000) {
			sockets().at(-1)?.options.onError?.(new Error("refused"));
			timer.pass(10_000);
			await answer(200, websocket("first"));
		}
		ok(requests().length > 8 && requests().length < 20, `${requests().length} requests in an hour`);
	},
	async "does not ask because a session has ended"() {
		const { timer, sockets, requests, greet } = await startServed(86_400);
		for (let session = 0; session < 3; session += 1) {
			greet(String(session)).options.onClose();
			timer.pass(5_000);
		}
		equal([sockets().length, requests().length], [4, 1]);
	},
	async "installs newer firmware before it connects, with what the server says of it"() {
		const { answer, log, board } = startFrom();
		const firmware = { version: "1.2.0", url: "http://f.bin", sha256: "ab", signature: "cd" };
		await answer(200, { ...websocket("first"), firmware });
		equal(board.installed, [{ ...firmware, force: false }]);
		ok(log.includes("state activating -> upgrading"));
	},
	async "says so if an update fails, and connects"() {
		const board = new FakeBoard();
		board.upgradeFails = true;
		const { answer, log, sockets } = startFrom(board);
		await answer(200, { ...websocket("first"), firmware: { version: "1.2.0", url: "http://f.bin" } });
		ok(log.includes("upgrade from http://f.bin failed: Error: no such firmware"));
		ok(board.shown.some(({ alert }) => alert?.status === "Update failed"));
		equal(sockets().length, 1);
	},
	async "says so on a board that cannot update itself, and connects"() {
		const board = { ...new FakeBoard(), installer: undefined } as unknown as FakeBoard;
		const { answer, log, sockets } = startFrom(board);
		await answer(200, { ...websocket("first"), firmware: { version: "0.0.1", url: "http://f.bin", force: 1 } });
		ok(log.includes("firmware 0.0.1 (forced) is available, but this board cannot update itself"));
		equal(sockets().length, 1);
	},
	async "asks nobody while it is offline, and begins again when it is online"() {
		const board = new FakeBoard();
		const { answer, requests, application, timer } = startFrom(board);
		await settled();
		board.network.online = false;
		board.network.onChange?.();
		await answer(200, websocket("first"));
		timer.pass(INTERVAL);
		equal([application.state, requests().length], ["activating", 1]);
		board.network.online = true;
		board.network.onChange?.();
		await answer(200, websocket("first"));
		equal([application.state, requests().length], ["connecting", 2]);
	},
});
