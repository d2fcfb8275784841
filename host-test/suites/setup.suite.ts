import { ProtocolError } from "../../src/protocols/envelope.js";
import { FakeDnsSd } from "../doubles/fake-dns-sd.js";
import { FakeTransport } from "../doubles/fake-protocol.js";
import { beginSetup, makeSetup } from "../doubles/open-setup.js";
import { equal, given, matches, ok, settled, suite, throws } from "../harness.js";

function beginWithBackend() {
	const transport = new FakeTransport();
	return { ...beginSetup({ transport }), transport };
}

function loseNetwork() {
	const made = makeSetup({ built: { ssid: "home" } });
	made.setup.onOffline();
	made.timer.pass(180_000);
	return made;
}

const TYPED = { ssid: "home", password: "long enough", backend: "ws://new/", token: "", otaUrl: "", name: "" };

const stored = ({ settings }: Pick<ReturnType<typeof makeSetup>, "settings">): object =>
	Object.fromEntries(
		[...settings.values].filter(([key]) => key.startsWith("xs-mcp/")).map(([key, value]) => [key.slice(7), value]),
	);

export default suite("set-up with a phone", {
	"opens a network with a password that the screen shows"() {
		const { accessPoint, shown, platform, log } = beginSetup();
		const access = { ssid: "xs-mcp-56789a", password: accessPoint.opened?.password ?? "" };
		matches(access.password, /^[a-z2-9]{8}$/);
		equal([accessPoint.opened, platform.isOpen], [access, true]);
		equal(shown, [{ ...access, url: "http://192.0.2.7/", progress: "" }]);
		ok(!log.some((line) => line.includes(access.password)), "the password is not in the log");
	},
	"opens it without a password on a board without a screen, unless a setting has one"() {
		equal(beginSetup({ screen: false }).accessPoint.opened?.password, "");
		const built = { setupPassword: "label on the case" };
		equal(beginSetup({ screen: false, built }).accessPoint.opened?.password, "label on the case");
	},
	"joins what was typed, stores it, says so, and ends": given(beginSetup, async (made) => {
		const { submit, status, accessPoint, timer, ends, shown, platform } = made;
		const { status: code, body } = await submit(TYPED);
		equal([code, (body as { message: string }).message], [202, "Joining home …"]);
		equal(accessPoint.attempts, [{ ssid: "home", password: "long enough" }]);
		equal([stored(made), (await status()).state, shown.at(-1)?.progress], [{}, "joining", "Joining home …"]);
		accessPoint.finish(true);
		await settled();
		equal(stored(made), { ssid: "home", password: "long enough", backend: "ws://new/" });
		const { state, message } = await status();
		equal([state, ends], ["joined", []]);
		matches(message, /^The device has joined home. It restarts/);
		timer.pass(4_000);
		equal(
			[ends, accessPoint.opened, platform.isOpen, shown.at(-1), timer.size],
			[[true], undefined, false, undefined, 0],
		);
	}),
	"takes the phone's language for the device, on whose screen it goes on in it": given(beginSetup, async (made) => {
		const { submit, accessPoint, shown, status, log } = made;
		await submit({ ...TYPED, language: "ja" });
		matches(shown.at(-1)?.progress ?? "", /^home.*…$/);
		ok(shown.at(-1)?.progress !== "Joining home …", "in Japanese");
		equal([(await status()).message, log.some((line) => /[^ -~…]/.test(line))], ["Joining home …", false]);
		accessPoint.finish(true);
		await settled();
		equal(stored(made), { ssid: "home", password: "long enough", backend: "ws://new/", language: "ja" });
		const { body } = await beginSetup().submit({ ...TYPED, language: "tlh" });
		equal(body, { errors: { form: { text: "wrongForm" } } });
	}),
	"takes the phone's time zone for the device, and keeps one that was set": given(beginSetup, async (made) => {
		const timezone = "<+01>-1<+02>-2,M3.5.0/2,M10.5.0/3";
		await made.join({ ...TYPED, timezone });
		equal((stored(made) as { timezone?: string }).timezone, timezone);
		const known = beginSetup({ built: { timezone: "JST-9" } });
		await known.join({ ...TYPED, timezone });
		equal((stored(known) as { timezone?: string }).timezone, undefined);
		const { submit } = beginSetup();
		equal((await submit({ ...TYPED, timezone: "x".repeat(65) })).body, { errors: { form: { text: "wrongForm" } } });
	}),
	"needs no restart if only the network has changed": given(beginSetup, async ({ join, status, timer, ends }) => {
		await join({ ...TYPED, backend: "ws://old/" });
		matches((await status()).message, /It connects/);
		timer.pass(4_000);
		equal(ends, [false]);
	}),
	"stores nothing if the network cannot be joined, and takes the form again": given(beginSetup, async (made) => {
		const { submit, status, accessPoint, ends } = made;
		await submit(TYPED);
		equal((await submit(TYPED)).body, { errors: { form: { text: "busy" } } });
		accessPoint.finish(false);
		await settled();
		const { state, message } = await status();
		equal([state, stored(made), ends], ["failed", {}, []]);
		matches(message, /^Could not join home\. Check the password/);
		equal((await submit(TYPED)).status, 202);
	}),
	async "tries the backend, and stores the settings once it has answered"() {
		const { transport, join, status, timer, ends, ...made } = beginWithBackend();
		await join(TYPED);
		const { state, message } = await status();
		equal([state, message, stored(made)], ["joining", "Connecting to the server …", {}]);
		transport.channel.greet();
		equal((await status()).state, "joined");
		equal([transport.channel.closed, made.settings.get("wifi", "unreached")], [true, undefined]);
		timer.pass(4_000);
		equal([ends, timer.size], [[true], 0]);
	},
	async "stores nothing if the backend does not answer, says why, and stays open"() {
		const { transport, join, status, timer, setup, log, ...made } = beginWithBackend();
		await join({ ...TYPED, token: "secret" });
		for (let attempt = 0; attempt < 3; attempt += 1) {
			transport.channel.events.onClose(new ProtocolError("connection-failed", "rejected with HTTP status 401"));
			timer.pass(2_000);
		}
		const { state, text, detail, canKeep } = await status();
		equal([state, text, detail, canKeep], ["failed", "notReached", "rejected with HTTP status 401", true]);
		equal([setup.isOpen, made.settings.get("xs-mcp", "backend")], [true, undefined]);
		ok(log.includes("set-up: the backend cannot be reached: rejected with HTTP status 401"), log.join("\n"));
		ok(!log.some((line) => line.includes("secret")));
		await join({ ...TYPED, backend: "ws://right/" });
		transport.channel.greet();
		equal((await status()).state, "joined");
	},
	async "gives up a backend that says nothing for twenty seconds"() {
		const { join, status, timer } = beginWithBackend();
		await join(TYPED);
		timer.pass(20_000);
		equal((await status()).text, "notReached");
	},
	async "stores a backend that was not reached if the person says so, and opens again if it is never reached"() {
		const { join, status, timer, setup, counts, settings } = beginWithBackend();
		await join({ ...TYPED, action: "keep" });
		equal([(await status()).state, settings.get("xs-mcp", "backend")], ["joined", "ws://new/"]);
		timer.pass(4_000);
		setup.onOnline();
		timer.pass(179_999);
		equal(counts.needed, 1);
		timer.pass(1);
		equal(counts.needed, 2);
		setup.close();
		setup.onOnline();
		setup.onBackendReady();
		equal([timer.size, settings.get("wifi", "unreached")], [0, undefined]);
		setup.onOnline();
		equal(timer.size, 0, "it has worked once");
	},
	async "looks for gateways in the network that was typed, and stores nothing"() {
		const network = new FakeDnsSd();
		const made = beginSetup({ dnsSd: network });
		const { submit, status, accessPoint, timer, ask } = made;
		equal(JSON.parse((await ask("GET", "/settings")).text).findsGateways, true);
		for (const [name, expected] of [
			["attic", ["found", "chooseGateway", [{ name: "attic", backend: "mdns:xs-mcp-workshop" }]]],
			[undefined, ["failed", "noGateway", undefined]],
		] as const) {
			equal((await submit({ ...TYPED, backend: "", action: "find" })).status, 202);
			accessPoint.finish(true);
			await settled();
			equal((await status()).text, "finding");
			if (name !== undefined) {
				network.find({ name });
			}
			timer.pass(5_000);
			const { state, text, gateways } = await status();
			equal([state, text, gateways], expected);
		}
		equal([stored(made), network.open], [{}, 0]);
	},
	async "restarts a device that has joined another network and stored nothing, so that it goes back to its own"() {
		const { join, timer, ends } = beginSetup({ built: { ssid: "home" }, dnsSd: new FakeDnsSd() });
		await join({ ...TYPED, ssid: "other", action: "find" });
		await timer.passed(5_000);
		timer.pass(300_000);
		equal(ends, [true]);
	},
	async "keeps the password for the same network and the token for the same backend, and for no other"() {
		const built = { ssid: "home", password: "kept password", token: "kept token" };
		const typed = { ...TYPED, password: "" };
		for (const [values, access, token] of [
			[{ ...typed, backend: "ws://old/" }, "kept password", undefined],
			[{ ...typed, ssid: "other", backend: "ws://old/" }, "", undefined],
			[typed, "kept password", ""],
			[{ ...typed, backend: "ws://old/", otaUrl: "http://ota/" }, "kept password", ""],
		] as const) {
			const made = beginSetup({ built });
			equal((await made.submit(values)).status, 202);
			equal(made.accessPoint.attempts[0]?.password, access);
			made.accessPoint.finish(true);
			await settled();
			equal(made.settings.get("xs-mcp", "token"), token);
		}
	},
	async "forgets the MQTT user and password if the backend changes: another one must not be told them"() {
		const built = { ssid: "home", mqttUsername: "user", mqttPassword: "secret" };
		for (const [backend, kept] of [
			["ws://old/", undefined],
			["ws://new/", ""],
		] as const) {
			const { join, settings } = beginSetup({ built });
			await join({ ...TYPED, backend });
			const stored = ["mqttUsername", "mqttPassword"].map((key) => settings.get("xs-mcp", key));
			equal(stored, [kept, kept]);
		}
	},
	"logs neither passwords nor tokens": given(beginSetup, async ({ submit, accessPoint, log, status }) => {
		await submit({ ...TYPED, password: "secret-password", token: "secret-token" });
		accessPoint.finish(false);
		await settled();
		ok(![...log, JSON.stringify(await status())].some((line) => line.includes("secret")), log.join("\n"));
	}),
	"does not search for networks while it joins one": given(beginSetup, async ({ submit, ask, accessPoint }) => {
		await submit(TYPED);
		equal([(await ask("GET", "/networks")).text, accessPoint.scans], ['{"networks":[]}', 0]);
	}),
	async "gives up if nobody uses the page for a while and the device knows a network; what phones ask is no use"() {
		const { ask, timer, ends } = beginSetup({ built: { ssid: "home" } });
		timer.pass(299_000);
		await ask("GET", "/networks");
		timer.pass(200_000);
		await ask("GET", "/generate_204");
		await ask("GET", "/");
		timer.pass(99_000);
		equal(ends, []);
		timer.pass(1_000);
		equal([ends, timer.size], [[false], 0]);
	},
	"waits for ever if the device knows no network": given(beginSetup, ({ timer, ends, setup }) => {
		timer.pass(10_000_000);
		equal([ends, setup.isOpen], [[], true]);
	}),
	"ends at once if its network cannot be opened": given(makeSetup, ({ setup, accessPoint, ends, log }) => {
		accessPoint.fault = new Error("no memory");
		setup.begin();
		equal([setup.isOpen, ends], [false, [false]]);
		matches(log[0] ?? "", /^set-up: could not open: Error: no memory$/);
	}),
	"is needed if the device is offline for too long"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home" } });
		setup.onOffline();
		timer.pass(179_000);
		setup.onOnline();
		setup.onOffline();
		timer.pass(179_000);
		setup.onOffline();
		equal(counts.needed, 0);
		timer.pass(1_000);
		equal(counts.needed, 1);
	},
	"begins without a network also on a device whose settings have worked, without screen or password"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home" }, screen: false });
		setup.onOnline();
		setup.onOffline();
		timer.pass(180_000);
		equal(counts.needed, 1);
	},
	async "tries known networks each minute while it is open without a network, and ends once one is back"() {
		const { timer, accessPoint, ends } = loseNetwork();
		timer.pass(60_000);
		accessPoint.finish(false);
		await settled();
		timer.pass(59_999);
		equal(accessPoint.rejoins, 1);
		timer.pass(1);
		accessPoint.finish(true);
		await settled();
		equal([accessPoint.rejoins, ends, accessPoint.opened, timer.size], [2, [false], undefined, 0]);
	},
	async "tries no known network while somebody uses the page, and ends if it stays unused"() {
		const { timer, accessPoint, ends, ask } = loseNetwork();
		timer.pass(60_000);
		await ask("GET", "/networks");
		accessPoint.finish(true);
		await settled();
		equal(ends, []);
		timer.pass(299_999);
		equal([accessPoint.rejoins, ends], [1, []]);
		timer.pass(1);
		equal([ends, timer.size], [[false], 0]);
	},
	async "ends after five attempts to join known networks"() {
		const { timer, accessPoint, ends } = loseNetwork();
		for (let attempt = 0; attempt < 5; attempt += 1) {
			equal(ends, []);
			timer.pass(60_000);
			accessPoint.finish(false);
			await settled();
		}
		equal([accessPoint.rejoins, ends, timer.size], [5, [false], 0]);
	},
	async "stays open for a form that is sent during the last attempt to join a known network"() {
		const { timer, accessPoint, ends, submit, status } = loseNetwork();
		for (let attempt = 1; attempt < 5; attempt += 1) {
			timer.pass(60_000);
			accessPoint.finish(false);
			await settled();
		}
		timer.pass(60_000);
		await submit(TYPED);
		equal([accessPoint.rejoins, ends, (await status()).state], [5, [], "joining"]);
		accessPoint.finish(true);
		await settled();
		equal((await status()).state, "joined");
	},
	"begins after its delay, also if the device is online by then"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home" } });
		setup.begin(1_000);
		setup.onOnline();
		setup.onBackendReady();
		timer.pass(1_000);
		equal(counts.needed, 1);
	},
	"tries no known network if a person has begun it"() {
		const { timer, accessPoint } = beginSetup({ built: { ssid: "home" } });
		timer.pass(299_000);
		equal(accessPoint.rejoins, 0);
	},
	async "keeps the network that it replaces"() {
		const made = beginSetup({ built: { ssid: "old", password: "old password" } });
		await made.join({ ...TYPED, backend: "ws://old/" });
		equal(stored(made), { networks: '[["old","old password"]]', ssid: "home", password: "long enough" });
	},
	"begins when the BOOT button was held for five seconds": given(makeSetup, ({ boot, counts, log }) => {
		boot.onRelease?.(4_999);
		equal(counts.needed, 0);
		boot.onRelease?.(5_000);
		equal([counts.needed, log], [1, ["BOOT button: set-up"]]);
	}),
	"stays open for a person who holds the BOOT button": given(loseNetwork, ({ boot, timer, accessPoint, counts }) => {
		boot.onRelease?.(6_000);
		timer.pass(120_000);
		equal([counts.needed, accessPoint.rejoins], [1, 0]);
	}),
	"erases every setting when the BOOT button was held for ten seconds, after it has said so"() {
		const { boot, alerts, log, timer, resets, counts } = makeSetup({ built: { language: "ja" } });
		boot.onRelease?.(10_000);
		equal([log, resets], [["factory reset: every setting is erased, and the device restarts"], []]);
		matches(alerts.join(), /^すべての設定/);
		timer.pass(1_000);
		equal([resets, counts.needed], [["reset"], 0]);
	},
	"does without a BOOT button whose pin another part uses"() {
		const bootButton = () => {
			throw new Error("in use");
		};
		const { log, setup } = makeSetup({ bootButton });
		equal(log, ["BOOT button: not available: Error: in use"]);
		setup.begin();
		ok(setup.isOpen);
	},
	"takes its times from settings, and names those that it cannot use"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home", setupAfter: "20" } });
		setup.onOffline();
		timer.pass(20_000);
		equal(counts.needed, 1);
		const never = makeSetup({ built: { ssid: "home", setupAfter: 0 } });
		never.setup.onOffline();
		equal(never.timer.size, 0);
		throws(() => makeSetup({ built: { setupAfter: "soon" } }), /^setupAfter: expected whole seconds from 0 to 86400/);
		throws(() => makeSetup({ built: { setupPassword: "short" } }), /^setupPassword: expected 8 to 63[^"]*$/);
	},
});
