import { splitUrl, type UrlParts } from "../../src/core/text/url.js";
import { FakeHttpClient, openHttp } from "../doubles/fake-http-client.js";
import { equal, given, matches, ok, settled, suite } from "../harness.js";

const bytes = (text: string): ArrayBuffer => ArrayBuffer.fromString(text);

function askInPieces(headers: Readonly<Record<string, string>> = { "content-length": "12" }) {
	const taken: string[] = [];
	const busy: { resolve(): void; reject(error: Error): void }[] = [];
	const onPiece = (piece: ArrayBuffer): Promise<void> => {
		taken.push(String.fromArrayBuffer(piece));
		return new Promise((resolve, reject) => busy.push({ resolve, reject }));
	};
	const { timer, client, end } = openHttp(4).ask({ url: "http://host/", onPiece });
	const go = async (): Promise<void> => {
		busy.shift()?.resolve();
		await settled();
	};
	client.begin(200, headers);
	return { timer, client, taken, busy, end, go };
}

const ask = () => openHttp().ask();

export default suite("HTTP", {
	"asks the host, the port and the path of the URL": given(openHttp, ({ ask }) => {
		const plain = ask({ url: "http://host/a?b=c" }).client;
		const { host, port } = plain.options;
		equal([host, port, plain.sent.method, plain.sent.path], ["host", 80, "GET", "/a?b=c"]);
		equal(ask({ url: "https://host" }).client.options.port, 443);
	}),
	"gives the status and the whole body, and closes the connection": given(openHttp, async ({ timer, ask }) => {
		const { client, end } = ask();
		client.begin(202, { "content-length": "5" });
		client.arrive("no");
		client.arrive("pe!");
		client.sent.onDone(null);
		await settled();
		equal(end, { value: { status: 202, body: bytes("nope!") } });
		equal([client.closed, timer.size], [true, 0]);
	}),
	"resolves with a status other than 2xx, and its body": given(ask, async ({ client, end }) => {
		client.answer(404, "not here");
		await settled();
		equal(end, { value: { status: 404, body: bytes("not here") } });
	}),
	async "gives the body of a failure as a whole, not in pieces"() {
		const pieces: ArrayBuffer[] = [];
		const { client, end } = openHttp().ask({ onPiece: (piece) => void pieces.push(piece) });
		client.answer(500, "broken");
		await settled();
		equal([end, pieces], [{ value: { status: 500, body: bytes("broken") } }, []]);
	},
	async "rejects a status other than 2xx if the request must succeed"() {
		const { client, end } = openHttp().ask({ mustSucceed: true });
		client.answer(404, "");
		await settled();
		equal(end.error, "http://host/path answered with HTTP status 404");
	},
	"takes the end of the connection for the end of a body without a length": given(ask, async ({ client, end }) => {
		client.begin(200);
		client.arrive("all");
		client.fail();
		await settled();
		equal(end, { value: { status: 200, body: bytes("all") } });
	}),
	"fails if the connection ends within a body whose length is known": given(ask, async ({ client, end }) => {
		client.begin(200, { "content-length": "9" });
		client.arrive("some");
		client.fail();
		await settled();
		matches(end.error ?? "", /^http:\/\/host\/path: connection closed before the end of the response$/);
	}),
	"fails if there is no answer": given(ask, async ({ client, end }) => {
		client.fail();
		await settled();
		equal([end.error, client.closed], ["http://host/path: no answer", true]);
	}),
	async "sends a body part by part, as there is room, without a copy"() {
		const picture = bytes("PICTURE");
		const { client } = openHttp().ask({
			method: "POST",
			body: [bytes("head "), picture, new ArrayBuffer(0), bytes(" tail")],
		});
		equal(client.sent.headers.get("Content-Length"), "17");
		for (const room of [7, 4, 100]) {
			client.grant(room);
			await settled();
		}
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
	async "cancels a request, which frees its place"() {
		const { ask } = openHttp();
		for (let count = 0; count < 3; count += 1) {
			let cancel = (): void => {};
			const { client, end } = ask({
				onOpen: (given) => {
					cancel = given;
				},
			});
			cancel();
			cancel();
			await settled();
			equal([end.error, client.closed], ["http://host/path: cancelled", true]);
		}
	},
	async "ends a request at once if a piece cannot be used"() {
		for (const onPiece of [
			() => {
				throw new Error("no firmware");
			},
			() => Promise.reject(new Error("no firmware")),
		]) {
			const { client, end } = openHttp().ask({ onPiece });
			client.begin(200, { "content-length": "10" });
			client.arrive("12345");
			await settled();
			equal([end.error, client.closed], ["http://host/path: no firmware", true]);
		}
	},
	"limits what comes before the body, and between two pieces of it": given(ask, ({ client }) => {
		const allowance = client.options.socket?.allowance as { bytes: number };
		equal(allowance.bytes, 8_192);
		allowance.bytes = 10;
		client.begin(200);
		equal(allowance.bytes, 8_192);
		allowance.bytes = 10;
		client.arrive("x");
		equal(allowance.bytes, 8_192);
	}),
	"fails without progress, and not while there is some": given(openHttp, async ({ timer, ask }) => {
		const { client, end } = ask({ timeout: 3_000 });
		timer.pass(2_900);
		client.begin(200, { "content-length": "9" });
		timer.pass(2_900);
		client.arrive("1");
		await settled();
		equal(end, {});
		await timer.passed(4_100);
		matches(end.error ?? "", /no progress within 3000 ms/);
		equal([client.closed, timer.size], [true, 0]);
	}),
	"fails in the end if the response comes drop by drop": given(openHttp, async ({ timer, ask }) => {
		const { client, end } = ask({ timeout: 3_000 });
		client.begin(200, { "content-length": "99" });
		for (let second = 0; second < 13; second += 1) {
			timer.pass(1_000);
			client.arrive("x");
		}
		await settled();
		matches(end.error ?? "", /not finished within 12000 ms/);
	}),
	"ignores what comes after the end": given(ask, async ({ client, end }) => {
		client.answer(200, "ok");
		client.fail();
		await settled();
		equal(end.value?.status, 200);
	}),
	"names a URL that it cannot open, before it opens anything": given(openHttp, async ({ ask }) => {
		for (const url of ["ws://host/", "host", "http://ho st/", "http://host/a\r\nX: y"]) {
			const { end, isMade } = ask({ url });
			await settled();
			equal([isMade, end.error], [false, `${JSON.stringify(url)} is not an HTTP URL that this device supports`]);
		}
	}),
	async "rejects a header with a line break"() {
		const { end, isMade } = openHttp().ask({ headers: new Map([["Authorization", "Bearer x\r\nHost: y"]]) });
		await settled();
		equal(isMade, false);
		matches(end.error ?? "", /the header "Authorization" must not contain a line break/);
	},
	"makes two requests at a time, and no more": given(openHttp, async ({ ask }) => {
		const first = ask();
		ask();
		const third = ask();
		await settled();
		equal(third.isMade, false);
		matches(third.end.error ?? "", /too many HTTP requests in progress \(limit 2\)/);
		first.client.answer(200, "");
		await settled();
		ok(ask().isMade, "the next one may begin");
	}),
	async "in pieces: leaves what comes in unread while the piece before is being used"() {
		const { client, taken, go } = askInPieces();
		client.arrive("1234");
		client.arrive("56");
		client.arrive("78");
		await settled();
		equal(taken, ["1234"]);
		await go();
		equal(taken, ["1234", "5678"]);
		client.arrive("9012");
		await go();
		equal(taken, ["1234", "5678", "9012"]);
	},
	"in pieces: is done when the last one was used": given(askInPieces, async ({ client, end, go }) => {
		client.arrive("123456");
		client.arrive("789012");
		client.sent.onDone(null);
		await go();
		equal(end, {});
		await go();
		equal([end.value?.status, client.closed], [200, true]);
	}),
	async "in pieces: fails once those that came in were used if the connection is lost"() {
		const { client, end, go } = askInPieces();
		client.arrive("123456");
		client.fail();
		await settled();
		equal(end, {});
		await go();
		equal(end, { error: "http://host/: connection closed before the end of the response" });
	},
	async "in pieces: fails if the connection is lost with bytes that were not read, also if nobody knows how many there are"() {
		const lengths: Record<string, string>[] = [{ "content-length": "12" }, {}];
		for (const headers of lengths) {
			const { client, taken, end, go } = askInPieces(headers);
			client.arrive("1234");
			client.arrive("56");
			client.fail();
			await go();
			equal(taken, ["1234"]);
			equal(end, { error: "http://host/: connection closed before the end of the response" });
		}
	},
	async "in pieces: does not count the time that one takes, and limits the time of all of them"() {
		const { timer, client, end, busy } = askInPieces();
		client.arrive("1234");
		await timer.passed(1_799_000);
		equal(end, {});
		await timer.passed(11_000);
		equal(end, { error: "http://host/: not finished within 1800000 ms" });
		busy[0]?.reject(new Error("too late"));
		await settled();
		equal(end, { error: "http://host/: not finished within 1800000 ms" });
	},
	async "in pieces: lets a held connection tell again and again how much there is to read"() {
		const { client, go } = askInPieces();
		const limit = client.options.socket?.allowance;
		client.arrive("1234");
		equal(limit?.bytes, Number.POSITIVE_INFINITY);
		await go();
		equal(limit?.bytes, 8_192);
	},
	async "follows a redirect, whatever its kind and however its target is written"() {
		for (const [location, next] of [
			["/b?c=d#e", "http://host:81/b?c=d"],
			["c", "http://host:81/a/c"],
			["?q", "http://host:81/a/b?q"],
			["//other/x", "http://other/x"],
			[" HTTPS://other/x ", "https://other/x"],
		] as const) {
			for (const status of [301, 302, 303, 307, 308]) {
				const { client, end } = openHttp().ask({ url: "http://host:81/a/b" });
				const target = splitUrl(next) as UrlParts;
				client.begin(status, { location });
				await settled();
				const after = FakeHttpClient.made.at(-1) as FakeHttpClient;
				equal([client.closed, after.options.host, after.sent.path], [true, target.host, target.path]);
				equal(after.options.port, target.port ?? (target.scheme === "https" ? 443 : 80));
				after.answer(200, "found");
				await settled();
				equal(end, { value: { status: 200, body: bytes("found") } });
			}
		}
	},
	async "repeats the method and the body after a redirect, except after 303"() {
		for (const [status, method, length] of [
			[302, "POST", "4"],
			[307, "POST", "4"],
			[303, "GET", undefined],
		] as const) {
			const { client } = openHttp().ask({ method: "POST", body: [bytes("body")] });
			client.begin(status, { location: "/next" });
			await settled();
			const { sent } = FakeHttpClient.made.at(-1) as FakeHttpClient;
			equal([sent.path, sent.method, sent.headers.get("Content-Length")], ["/next", method, length]);
		}
	},
	async "sends Authorization to no other server"() {
		const headers = new Map([
			["Authorization", "Bearer t"],
			["Device-Id", "d"],
		]);
		for (const [url, location, isSent] of [
			["http://host/a", "/b", true],
			["http://host/a", "https://host/b", true],
			["http://host/a", "http://host:81/b", false],
			["http://host/a", "https://host:444/b", false],
			["http://host/a", "http://other/b", false],
		] as const) {
			const { client } = openHttp().ask({ url, headers });
			client.begin(302, { location });
			await settled();
			const { sent } = FakeHttpClient.made.at(-1) as FakeHttpClient;
			equal([sent.headers.has("Authorization"), sent.headers.has("Device-Id")], [isSent, true], location);
		}
	},
	async "ends after five redirects, and at one to http from https or to no HTTP URL"() {
		for (const [url, location, error] of [
			["http://host/", "/", "http://host/: more than 5 redirects"],
			["https://host/", "http://host/", "https://host/: redirect from https to http rejected"],
			["http://host/", "ftp://host/", 'http://host/: redirect to an unusable URL: "ftp://host/"'],
		] as const) {
			const { client, end } = openHttp().ask({ url });
			let last: FakeHttpClient = client;
			for (let hops = 0; end.error === undefined && hops < 9; hops += 1) {
				last.begin(302, { location });
				await settled();
				last = FakeHttpClient.made.at(-1) as FakeHttpClient;
			}
			equal(end, { error });
		}
	},
	async "reports a redirect of a body that cannot be read again"() {
		const picture = { byteLength: 3, read: async () => new Uint8Array(3), close() {} };
		const { client, end } = openHttp().ask({ method: "POST", body: [picture], mustSucceed: true });
		client.begin(307, { location: "/next" });
		await settled();
		equal(end.error, 'http://host/path answered with HTTP status 307 (redirect to "/next" not followed)');
	},
});
