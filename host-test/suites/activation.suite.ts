import { bootstrap, FakeOtaServer, OTA_URL } from "../doubles/fake-ota-server.js";
import { equal, suite } from "../harness.js";

const UNBOUND = { activation: { message: "Type in 123456", code: "123456", challenge: "c-1", timeout_ms: 5_000 } };
const WEBSOCKET = { websocket: { url: "ws://backend/", token: "t" } };
const ACTIVATE = `${OTA_URL}activate`;
const CODE = { code: "123456", message: "Type in 123456" };

export default suite("activation", {
	async "shows the code, asks until device bound, and then for the backend"() {
		const { server, heard, pass } = await bootstrap(new FakeOtaServer(UNBOUND, 202, 202, 200, WEBSOCKET));
		equal([heard, server.urls], [[CODE], [OTA_URL, ACTIVATE]]);
		await pass(4_000);
		await pass(4_000);
		equal(heard, [CODE, "activated"]);
		await pass(4_000);
		equal(heard, [CODE, "activated", { backend: "ws://backend/", token: "t" }]);
		equal(server.urls, [OTA_URL, ACTIVATE, ACTIVATE, ACTIVATE, OTA_URL]);
	},
	async "asks again in 10 s if the server answers with an error or not at all"() {
		const { server, pass } = await bootstrap(new FakeOtaServer(UNBOUND, 404, new Error("no answer"), 202));
		await pass(9_999);
		equal(server.requests.length, 2);
		await pass(1);
		equal(server.requests.length, 3);
		await pass(20_000);
		equal(server.requests.length, 4);
	},
	async "begins again after it has asked ten times"() {
		const { server, heard, pass } = await bootstrap(
			new FakeOtaServer(UNBOUND, ...Array.from({ length: 10 }, () => 202), WEBSOCKET),
		);
		for (let times = 0; times < 11; times += 1) {
			await pass(4_000);
		}
		equal([server.urls.filter((url) => url === ACTIVATE).length, server.urls.at(-1)], [10, OTA_URL]);
		equal(heard, [CODE, "activated", { backend: "ws://backend/", token: "t" }]);
	},
	async "sends no proof without a serial number, and waits as long as the server may hold the request"() {
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
