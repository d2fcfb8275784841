import { settled } from "../doubles/client.js";
import { makeSetup } from "../doubles/open-setup.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

const TYPED = { ssid: "home", password: "long enough", backend: "ws://new/", token: "", otaUrl: "", name: "" };

function begin(options?: Parameters<typeof makeSetup>[0]) {
	const made = makeSetup(options);
	made.setup.begin();
	return made;
}

/** What is stored in the firmware's own domain. */
const stored = ({ settings }: ReturnType<typeof makeSetup>): object =>
	Object.fromEntries(
		[...settings.values].filter(([key]) => key.startsWith("xs-mcp/")).map(([key, value]) => [key.slice(7), value]),
	);

export default suite("set-up with a phone", {
	"opens a network of its own with a password that the screen shows"() {
		const { accessPoint, shown, platform, log } = begin();
		const access = { ssid: "xs-mcp-56789a", password: "sssssss2".replace(/./g, "s") };
		equal([accessPoint.opened, platform.isOpen], [access, true]);
		equal(shown, [{ ...access, url: "http://192.0.2.7/", progress: "" }]);
		ok(!log.some((line) => line.includes(access.password)), "the password is not in the log");
	},
	"opens it without a password on a board without a screen, unless a setting has one"() {
		equal(begin({ screen: false }).accessPoint.opened?.password, "");
		const built = { setupPassword: "label on the case" };
		equal(begin({ screen: false, built }).accessPoint.opened?.password, "label on the case");
	},
	async "joins what was typed, stores it, says so, and ends"() {
		const made = begin();
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
	},
	async "needs no restart if only the network has changed"() {
		const { submit, status, accessPoint, timer, ends } = begin();
		await submit({ ...TYPED, backend: "ws://old/" });
		accessPoint.finish(true);
		await settled();
		matches((await status()).message, /It connects/);
		timer.pass(4_000);
		equal(ends, [false]);
	},
	async "stores nothing if the network cannot be joined, and takes the form again"() {
		const made = begin();
		const { submit, status, accessPoint, ends } = made;
		await submit(TYPED);
		matches(JSON.stringify((await submit(TYPED)).body), /is trying other settings/);
		accessPoint.finish(false);
		await settled();
		const { state, message } = await status();
		equal([state, stored(made), ends], ["failed", {}, []]);
		matches(message, /^Could not join home: wrong password/);
		equal((await submit(TYPED)).status, 202);
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
			const made = begin({ built });
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
			const { submit, accessPoint, settings } = begin({ built });
			await submit({ ...TYPED, backend });
			accessPoint.finish(true);
			await settled();
			equal(
				["mqttUsername", "mqttPassword"].map((key) => settings.get("xs-mcp", key)),
				[kept, kept],
			);
		}
	},
	async "logs neither passwords nor tokens"() {
		const { submit, accessPoint, log, status } = begin();
		await submit({ ...TYPED, password: "secret-password", token: "secret-token" });
		accessPoint.finish(false);
		await settled();
		ok(![...log, JSON.stringify(await status())].some((line) => line.includes("secret")), log.join("\n"));
	},
	async "does not search for networks while it joins one"() {
		const { submit, ask, accessPoint } = begin();
		await submit(TYPED);
		equal([(await ask("GET", "/networks")).text, accessPoint.scans], ['{"networks":[]}', 0]);
	},
	async "gives up if nobody uses the page for a while and the device knows a network; what phones ask is no use"() {
		const { ask, timer, ends } = begin({ built: { ssid: "home" } });
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
	"waits for ever if the device knows no network"() {
		const { timer, ends, setup } = begin();
		timer.pass(10_000_000);
		equal([ends, setup.isOpen], [[], true]);
	},
	"ends at once if its network cannot be opened"() {
		const { setup, accessPoint, ends, log } = makeSetup();
		accessPoint.fault = new Error("no memory");
		setup.begin();
		equal([setup.isOpen, ends], [false, [false]]);
		matches(log[0] ?? "", /^set-up: could not open: Error: no memory$/);
	},
	"is needed if the device is offline for too long"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home" } });
		setup.follow(false);
		timer.pass(179_000);
		setup.follow(true);
		setup.follow(false);
		timer.pass(179_000);
		setup.follow(false);
		equal(counts.needed, 0);
		timer.pass(1_000);
		equal([counts.needed, timer.size], [1, 0]);
	},
	"does not open a network without a password by itself once the device's settings have worked"() {
		const built = { ssid: "home" };
		const open = makeSetup({ built, screen: false });
		open.setup.follow(false);
		equal(open.timer.size, 1, "they have not worked yet");
		open.setup.follow(true);
		open.setup.follow(false);
		equal(open.timer.size, 0);
		const secured = makeSetup({ built: { ...built, setupPassword: "label on the case" }, screen: false });
		secured.setup.follow(true);
		secured.setup.follow(false);
		equal(secured.timer.size, 1);
	},
	"takes its times from settings, and names those that it cannot use"() {
		const { setup, timer, counts } = makeSetup({ built: { ssid: "home", setupAfter: "20" } });
		setup.follow(false);
		timer.pass(20_000);
		equal(counts.needed, 1);
		const never = makeSetup({ built: { ssid: "home", setupAfter: 0 } });
		never.setup.follow(false);
		equal(never.timer.size, 0);
		throws(() => makeSetup({ built: { setupAfter: "soon" } }), /^setupAfter: expected whole seconds from 0 to 86400/);
		throws(() => makeSetup({ built: { setupTime: 5 } }), /^setupTime: expected whole seconds from 60/);
		throws(() => makeSetup({ built: { setupPassword: "short" } }), /^setupPassword: expected 8 to 63[^"]*$/);
	},
});
