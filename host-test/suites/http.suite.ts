import { settled } from "../doubles/client.js";
import { openHttp } from "../doubles/fake-http-client.js";
import { equal, matches, ok, suite } from "../harness.js";

const bytes = (text: string): ArrayBuffer => ArrayBuffer.fromString(text);

export default suite("HTTP", {
	async "asks the host, the port and the path of the URL"() {
		const { ask } = openHttp();
		const plain = ask({ url: "http://host/a?b=c" }).client;
		const { host, port } = plain.options;
		equal([host, port, plain.sent.method, plain.sent.path], ["host", 80, "GET", "/a?b=c"]);
		equal(ask({ url: "https://host" }).client.options.port, 443);
	},
	async "gives the status and the whole body, and closes the connection"() {
		const { timer, ask } = openHttp();
		const { client, end } = ask();
		client.begin(404, { "content-length": "5" });
		client.arrive("no");
		client.arrive("pe!");
		client.sent.onDone(null);
		await settled();
		equal(end, { value: { status: 404, body: bytes("nope!") } });
		equal([client.closed, timer.size], [true, 0]);
	},
	async "takes the end of the connection for the end of a body without a length"() {
		const { client, end } = openHttp().ask();
		client.begin(200);
		client.arrive("all");
		client.fail();
		await settled();
		equal(end, { value: { status: 200, body: bytes("all") } });
	},
	async "fails if the connection ends within a body whose length is known"() {
		const { client, end } = openHttp().ask();
		client.begin(200, { "content-length": "9" });
		client.arrive("some");
		client.fail();
		await settled();
		matches(end.error ?? "", /^http:\/\/host\/path: connection closed before the end of the response$/);
	},
	async "fails if there is no answer"() {
		const { client, end } = openHttp().ask();
		client.fail();
		await settled();
		equal([end.error, client.closed], ["http://host/path: no answer", true]);
	},
	async "sends a body part by part, as there is room, without a copy"() {
		const picture = bytes("PICTURE");
		const { client } = openHttp().ask({
			method: "POST",
			body: [bytes("head "), picture, new ArrayBuffer(0), bytes(" tail")],
		});
		equal(client.sent.headers.get("Content-Length"), "17");
		client.grant(7);
		client.grant(4);
		client.grant(100);
		const text = client.written.map((part) => String.fromArrayBuffer(Uint8Array.from(part).buffer));
		equal(text, ["head ", "PI", "CTUR", "E", " tail"]);
		equal(client.written.filter(({ buffer }) => buffer === picture).length, 3);
	},
	async "sends an empty body as one of no bytes"() {
		equal(openHttp().ask({ method: "POST" }).client.sent.headers.get("Content-Length"), "0");
	},
	async "rejects a response that is longer than accepted, whether the server says so or not"() {
		const { ask } = openHttp(8);
		const announced = ask();
		announced.client.begin(200, { "content-length": "9" });
		const unannounced = ask();
		unannounced.client.begin(200, { "transfer-encoding": "chunked" });
		unannounced.client.arrive("12345");
		unannounced.client.arrive("6789");
		await settled();
		matches(announced.end.error ?? "", /response of 9 bytes \(limit 8\)/);
		matches(unannounced.end.error ?? "", /response longer than 8 bytes/);
		ok(announced.client.closed && unannounced.client.closed, "both are closed");
	},
	async "hands on a successful body piece by piece, however long it is"() {
		const pieces: string[] = [];
		const { client, end } = openHttp(4).ask({
			onPiece: (piece) => {
				pieces.push(String.fromArrayBuffer(piece));
			},
		});
		client.begin(200, { "content-length": "10" });
		client.arrive("12345");
		client.arrive("67890");
		client.sent.onDone(null);
		await settled();
		equal([pieces, end.value], [["12345", "67890"], { status: 200, body: new ArrayBuffer(0) }]);
	},
	async "ends a request if a piece cannot be used"() {
		const { client, end } = openHttp().ask({
			onPiece: () => {
				throw new Error("no firmware");
			},
		});
		client.begin(200, { "content-length": "10" });
		client.arrive("12345");
		await settled();
		equal([end.error, client.closed], ["http://host/path: no firmware", true]);
	},
	async "limits what comes before the body, and between two pieces of it"() {
		const { client } = openHttp().ask();
		const allowance = client.options.socket?.allowance as { bytes: number };
		equal(allowance.bytes, 8_192);
		allowance.bytes = 10;
		client.begin(200);
		equal(allowance.bytes, 8_192);
		allowance.bytes = 10;
		client.arrive("x");
		equal(allowance.bytes, 8_192);
	},
	async "fails without progress, and not while there is some"() {
		const { timer, ask } = openHttp();
		const { client, end } = ask({ timeout: 3_000 });
		timer.pass(2_900);
		client.begin(200, { "content-length": "9" });
		timer.pass(2_900);
		client.arrive("1");
		await settled();
		equal(end, {});
		timer.pass(4_100);
		await settled();
		matches(end.error ?? "", /no progress within 3000 ms/);
		equal([client.closed, timer.size], [true, 0]);
	},
	async "fails in the end if the response comes drop by drop"() {
		const { timer, ask } = openHttp();
		const { client, end } = ask({ timeout: 3_000 });
		client.begin(200, { "content-length": "99" });
		for (let second = 0; second < 13; second += 1) {
			timer.pass(1_000);
			client.arrive("x");
		}
		await settled();
		matches(end.error ?? "", /not finished within 12000 ms/);
	},
	async "ignores what comes after the end"() {
		const { client, end } = openHttp().ask();
		client.answer(200, "ok");
		client.fail();
		await settled();
		equal(end.value?.status, 200);
	},
	async "names a URL that it cannot open, before it opens anything"() {
		const { ask } = openHttp();
		for (const url of ["ws://host/", "host", "http://ho st/", "http://host/a\r\nX: y"]) {
			const { end, isMade } = ask({ url });
			await settled();
			equal([isMade, end.error], [false, `${JSON.stringify(url)} is not an HTTP URL that this device supports`]);
		}
	},
	async "rejects a header with a line break"() {
		const { end, isMade } = openHttp().ask({ headers: new Map([["Authorization", "Bearer x\r\nHost: y"]]) });
		await settled();
		equal(isMade, false);
		matches(end.error ?? "", /the header "Authorization" must not contain a line break/);
	},
	async "makes two requests at a time, and no more"() {
		const { ask } = openHttp();
		const first = ask();
		ask();
		const third = ask();
		await settled();
		equal(third.isMade, false);
		matches(third.end.error ?? "", /too many HTTP requests in progress \(limit 2\)/);
		first.client.answer(200, "");
		await settled();
		ok(ask().isMade, "the next one may begin");
	},
});
