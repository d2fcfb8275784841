import { settled } from "../doubles/client.js";
import { openHttp } from "../doubles/fake-http-client.js";
import { equal, suite } from "../harness.js";

/** A request whose taker is busy with each piece until the test says so. */
function ask(headers: Readonly<Record<string, string>> = { "content-length": "12" }) {
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

export default suite("HTTP in pieces", {
	async "leaves what comes in unread while the piece before is being used"() {
		const { client, taken, go } = ask();
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
	async "is done when the last piece was used"() {
		const { client, end, go } = ask();
		client.arrive("123456");
		client.arrive("789012");
		client.sent.onDone(null);
		await go();
		equal(end, {});
		await go();
		equal([end.value?.status, client.closed], [200, true]);
	},
	async "fails once the pieces that came in were used if the connection is lost"() {
		const { client, end, go } = ask();
		client.arrive("123456");
		client.fail();
		await settled();
		equal(end, {});
		await go();
		equal(end, { error: "http://host/: connection closed before the end of the response" });
	},
	async "fails if the connection is lost with bytes that were not read, also if nobody knows how many there are"() {
		for (const headers of [{ "content-length": "12" }, {}]) {
			const { client, taken, end, go } = ask(headers);
			client.arrive("1234");
			client.arrive("56");
			client.fail();
			await go();
			equal(taken, ["1234"]);
			equal(end, { error: "http://host/: connection closed before the end of the response" });
		}
	},
	async "ends at once if a piece cannot be used"() {
		const { client, busy, end } = ask();
		client.arrive("1234");
		busy[0]?.reject(new Error("no WAV file"));
		await settled();
		equal([end, client.closed], [{ error: "http://host/: no WAV file" }, true]);
	},
	async "does not count the time that a piece takes, and limits the time of all of them"() {
		const { timer, client, end, busy } = ask();
		client.arrive("1234");
		timer.pass(1_799_000);
		await settled();
		equal(end, {});
		timer.pass(11_000);
		await settled();
		equal(end, { error: "http://host/: not finished within 1800000 ms" });
		busy[0]?.reject(new Error("too late"));
		await settled();
		equal(end, { error: "http://host/: not finished within 1800000 ms" });
	},
	async "lets a held connection tell again and again how much there is to read"() {
		const { client, go } = ask();
		const limit = client.options.socket?.allowance;
		client.arrive("1234");
		equal(limit?.bytes, Number.POSITIVE_INFINITY);
		await go();
		equal(limit?.bytes, 8_192);
	},
});
