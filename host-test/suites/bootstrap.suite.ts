import { FIRMWARE } from "../../src/core/firmware.js";
import { FakeSettings } from "../doubles/fake-board.js";
import { bootstrap, FakeOtaServer, OTA_URL } from "../doubles/fake-ota-server.js";
import { equal, suite } from "../harness.js";

const WEBSOCKET = { websocket: { url: "ws://backend/", token: "t" } };
const BACKEND = { backend: "ws://backend/", token: "t" };
const FAILED = [`${OTA_URL} answered with HTTP status 500`, 10_000];
const UNBOUND = { activation: { message: "Type in 123456", code: "123456", challenge: "c-1", timeout_ms: 5_000 } };
const ACTIVATE = `${OTA_URL}activate`;
const CODE = { code: "123456", message: "Type in 123456" };
const DAY = 86_400_000;

const stored = (otaUrl: string): string => JSON.stringify({ otaUrl, backend: BACKEND });

export default suite("the bootstrap", {
	async "posts the device's report with the headers of the family"() {
		const { server } = await bootstrap(new FakeOtaServer(WEBSOCKET));
		const [request] = server.requests;
		equal([request?.method, request?.url], ["POST", OTA_URL]);
		equal(
			[...(request?.headers ?? [])],
			[
				["Device-Id", "02:00:00:00:00:01"],
				["Client-Id", "u-1"],
				["Activation-Version", "1"],
				["User-Agent", `fake/${FIRMWARE.version}`],
				["Accept-Language", "en-US"],
				["Content-Type", "application/json"],
			],
		);
		equal(server.body(0), {
			version: 2,
			language: "en-US",
			flash_size: 4_194_304,
			mac_address: "02:00:00:00:00:01",
			uuid: "u-1",
			partition_table: [],
			ota: { label: "" },
			application: { name: "xs-mcp", version: FIRMWARE.version },
			display: { monochrome: false, width: 320, height: 240 },
			board: { type: "fake", name: "fake", ssid: "home", rssi: -60, mac: "02:00:00:00:00:01" },
		});
	},
	async "names the language of the setting"() {
		for (const [language, tag] of [
			["ja", "ja-JP"],
			["zh", "zh-CN"],
		] as const) {
			const { server } = await bootstrap(new FakeOtaServer(WEBSOCKET), { language });
			equal(server.requests[0]?.headers?.get("Accept-Language"), tag);
			equal((server.body(0) as { language: string }).language, tag);
		}
	},
	async "logs what it drops of the answer, and uses the rest"() {
		const { heard, log } = await bootstrap(new FakeOtaServer({ mqtt: { endpoint: "" }, ...WEBSOCKET }));
		equal([heard, log], [[BACKEND], ['bootstrap: dropped: mqtt.endpoint: expected host[:port], got ""']]);
	},
	async "takes an answer that begins with a byte order mark, such as a file that a text editor has saved"() {
		equal((await bootstrap(new FakeOtaServer(`\ufeff${JSON.stringify(WEBSOCKET)}`))).heard, [BACKEND]);
	},
	async "names what it dropped if nothing is left"() {
		const { heard } = await bootstrap(new FakeOtaServer({ websocket: {} }));
		const problem = "the response has neither mqtt nor websocket; websocket.url: expected a string, got nothing";
		equal(heard, [[problem, 10_000]]);
	},
	async "uses the WebSocket of an answer whose MQTT cannot be used"() {
		const mqtt = { endpoint: "broker", client_id: "c", publish_topic: "a/#" };
		const reported: string[] = [];
		const { log, heard } = await bootstrap(new FakeOtaServer({ mqtt, ...WEBSOCKET }), undefined, {
			onBackend: ({ backend }) => {
				if (backend.startsWith("mqtt")) {
					throw new Error("publishTopic: expected a topic without wildcards");
				}
				reported.push(backend);
			},
		});
		const problem = "bootstrap: dropped: mqtts://broker:8883: publishTopic: expected a topic without wildcards";
		equal([reported, log, heard], [["ws://backend/"], [problem], []]);
	},
	async "tells the backend once, and checks again every day"() {
		const { server, heard, pass } = await bootstrap(new FakeOtaServer(WEBSOCKET));
		equal([heard, server.requests.length], [[BACKEND], 1]);
		await pass(DAY - 1);
		equal(server.requests.length, 1);
		await pass(1);
		equal([heard, server.requests.length], [[BACKEND], 2]);
	},
	async "checks only once if the interval is 0"() {
		const { timer } = await bootstrap(new FakeOtaServer(WEBSOCKET), { otaInterval: 0 });
		equal(timer.size, 0);
	},
	async "tries ten times, after 10 s and then twice that, and again a day later"() {
		const { server, heard, pass } = await bootstrap(new FakeOtaServer(new Error("no answer")), {
			otaInterval: 100_000,
		});
		for (let attempt = 1; attempt < 10; attempt += 1) {
			await pass(10_000 * 2 ** (attempt - 1));
		}
		equal(server.requests.length, 10);
		const delays = heard.map((failure) => (failure as [string, number])[1]);
		equal(delays, [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000, 2_560_000, 100_000_000]);
		await pass(100_000_000);
		await pass(10_000);
		equal(server.requests.length, 12);
	},
	async "uses the stored backend as soon as a check fails, and goes on checking"() {
		const { heard, pass, board, bootstrap: first } = await bootstrap(new FakeOtaServer(WEBSOCKET));
		equal([heard.length, board.settings.get("bootstrap", "backend")], [1, stored(OTA_URL)]);
		first.stop();
		await pass(DAY);
		const server = new FakeOtaServer(new Error("no answer"), new Error("no answer"), WEBSOCKET);
		const second = await bootstrap(server, {}, {}, board.settings);
		equal(second.heard, [BACKEND, ["no answer", 10_000]]);
		await second.pass(10_000);
		await second.pass(20_000);
		equal([second.heard.length, server.requests.length], [3, 3]);
	},
	async "does not use what another server said"() {
		const settings = new FakeSettings();
		settings.set("bootstrap", "backend", stored("http://other/"));
		const { heard } = await bootstrap(new FakeOtaServer(500), {}, {}, settings);
		equal(heard, [FAILED]);
	},
	async "keeps the stored backend if the answer has none"() {
		const settings = new FakeSettings();
		settings.set("bootstrap", "backend", stored(OTA_URL));
		equal((await bootstrap(new FakeOtaServer({}), {}, {}, settings)).heard, [BACKEND]);
		equal((await bootstrap(new FakeOtaServer({}))).heard, [["the response has neither mqtt nor websocket", 10_000]]);
	},
	async "ignores stored text that it cannot use"() {
		for (const text of ["{", "[]", `{"otaUrl":"${OTA_URL}","backend":5}`, `{"otaUrl":"${OTA_URL}","backend":{}}`]) {
			const settings = new FakeSettings();
			settings.set("bootstrap", "backend", text);
			equal((await bootstrap(new FakeOtaServer(500), {}, {}, settings)).heard, [FAILED]);
		}
	},
	async "does not store a backend that the application cannot use, and tries again"() {
		const heard: string[] = [];
		const { board } = await bootstrap(
			new FakeOtaServer({ websocket: { url: "ftp://x" } }),
			{},
			{
				onBackend: () => {
					throw new Error("backend: ftp:// is not a WebSocket");
				},
				onFailed: ({ message }, retryIn) => void heard.push(`${message}, ${retryIn}`),
			},
		);
		equal(heard, ["backend: ftp:// is not a WebSocket, 10000"]);
		equal(board.settings.get("bootstrap", "backend"), undefined);
	},
	async "connects even if the backend cannot be stored"() {
		const settings = new FakeSettings();
		settings.set = () => false;
		const { heard } = await bootstrap(new FakeOtaServer(WEBSOCKET), {}, {}, settings);
		equal(heard, [BACKEND]);
	},
	async "sets the clock by the server's time"() {
		const time = { timestamp: 1_800_000_000_000, timezone_offset: 540 };
		equal((await bootstrap(new FakeOtaServer({ ...WEBSOCKET, server_time: time }))).times, [[1_800_000_000_000, 540]]);
	},
	async "hands on firmware that is newer, or forced and another version, before it tells the backend"() {
		const offer = async (version: string, force?: number): Promise<unknown[]> =>
			(await bootstrap(new FakeOtaServer({ ...WEBSOCKET, firmware: { version, url: "http://f", force } }))).heard;
		equal(await offer("999.0.0"), ["firmware http://f", BACKEND]);
		equal(await offer("0.0.9", 1), ["firmware http://f", BACKEND]);
		equal(await offer(FIRMWARE.version, 1), [BACKEND]);
		equal(await offer(FIRMWARE.version), [BACKEND]);
		equal(await offer("0.0.9"), [BACKEND]);
	},
	async "shows the code of an unbound device, asks until it is bound, and then for the backend"() {
		const { server, heard, pass } = await bootstrap(new FakeOtaServer(UNBOUND, 202, 202, 200, WEBSOCKET));
		equal([heard, server.urls], [[CODE], [OTA_URL, ACTIVATE]]);
		await pass(4_000);
		await pass(4_000);
		equal(heard, [CODE, "activated"]);
		await pass(4_000);
		equal(heard, [CODE, "activated", BACKEND]);
		equal(server.urls, [OTA_URL, ACTIVATE, ACTIVATE, ACTIVATE, OTA_URL]);
	},
	async "asks for the activation again in 10 s if the server answers with an error or not at all"() {
		const { server, pass } = await bootstrap(new FakeOtaServer(UNBOUND, 404, new Error("no answer"), 202));
		await pass(9_999);
		equal(server.requests.length, 2);
		await pass(1);
		equal(server.requests.length, 3);
		await pass(20_000);
		equal(server.requests.length, 4);
	},
	async "begins again after it has asked ten times for the activation"() {
		const { server, heard, pass } = await bootstrap(
			new FakeOtaServer(UNBOUND, ...Array.from({ length: 10 }, () => 202), WEBSOCKET),
		);
		for (let times = 0; times < 11; times += 1) {
			await pass(4_000);
		}
		equal([server.urls.filter((url) => url === ACTIVATE).length, server.urls.at(-1)], [10, OTA_URL]);
		equal(heard, [CODE, "activated", BACKEND]);
	},
	async "sends no proof with an activation without a serial number, and waits as long as the server may hold the request"() {
		const { server } = await bootstrap(new FakeOtaServer(UNBOUND, 202));
		equal([server.body(1), server.requests[1]?.timeout], [{}, 35_000]);
	},
	async "proves its serial number by an HMAC of the challenge"() {
		const server = new FakeOtaServer(UNBOUND, 202);
		const hmacKey = Uint8Array.of(1, 2).buffer;
		const { signed } = await bootstrap(server, { serialNumber: "SN-1", hmacKey });
		const headers = server.requests.map(({ headers }) => [
			headers?.get("Activation-Version"),
			headers?.get("Serial-Number"),
		]);
		equal(headers, [
			["2", "SN-1"],
			["2", "SN-1"],
		]);
		equal(signed, [[hmacKey, ArrayBuffer.fromString("c-1")]]);
		const body = { algorithm: "hmac-sha256", serial_number: "SN-1", challenge: "c-1", hmac: "0001feff" };
		equal(server.body(1), body);
	},
});
