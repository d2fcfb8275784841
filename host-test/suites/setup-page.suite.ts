import { SETUP_TEXTS } from "../../src/features/setup/setup-texts.js";
import { beginSetup } from "../doubles/open-setup.js";
import { equal, given, matches, ok, suite } from "../harness.js";

export default suite("the set-up page", {
	async "is whole, and needs nothing from elsewhere"() {
		const { status, headers, text } = await beginSetup().ask("GET", "/");
		equal([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
		equal(headers.get("content-length"), String(ArrayBuffer.fromString(text).byteLength));
		matches(text, /^<!DOCTYPE html>[\s\S]*<\/html>\n$/);
		ok(!/src=|href="(?!data:)|@import|url\(/.test(text), "nothing is loaded");
		matches(headers.get("content-security-policy") ?? "", /default-src 'none'/);
	},
	async "has a label and a place for errors for each field"() {
		const { text } = await beginSetup().ask("GET", "/");
		for (const field of ["ssid", "password", "backend", "token", "otaUrl", "name"]) {
			ok(text.includes(`<label for="${field}" data-text="${field}">`) && text.includes(`id="${field}-error"`), field);
		}
	},
	async "is spoken in three languages, which have the same texts with the same places for names"() {
		const { ask } = beginSetup();
		const texts = async (language: string): Promise<Record<string, string>> =>
			JSON.parse((await ask("GET", `/texts/${language}`)).text);
		const english = await texts("en");
		for (const language of ["ja", "zh"]) {
			const other = await texts(language);
			equal(Object.keys(other), Object.keys(english), language);
			for (const [key, text] of Object.entries(other)) {
				ok(text.trim() !== "" && (text !== english[key] || key === "wifi"), `${language}: ${key}`);
				equal(text.includes("{name}"), english[key]?.includes("{name}"), `${language}: ${key}`);
			}
		}
		equal((await ask("GET", "/texts/tlh")).status, 302);
	},
	async "has no text that its languages lack"() {
		const { text: page } = await beginSetup().ask("GET", "/");
		const used = [...page.matchAll(/data-(?:text|label)="(\w+)"/g)].map(([, key]) => key ?? "");
		ok(used.length > 15, used.join(" "));
		const quoted = [...page.matchAll(/(?:\bt\(|say\(|text:|searchText=)"(\w+)"/g)].map(([, key]) => key ?? "");
		const unknown = [...used, ...quoted].filter((key) => !(key in (SETUP_TEXTS.en ?? {})));
		equal(unknown, []);
	},
	async "is what every other path and hostname leads to, as phones that look for it ask"() {
		const { ask } = beginSetup();
		for (const [path, host] of [
			["/generate_204", "connectivitycheck.gstatic.com"],
			["/hotspot-detect.html", "captive.apple.com"],
			["/connecttest.txt", "www.msftconnecttest.com"],
			["/ncsi.txt", "www.msftncsi.com"],
			["/success.txt", "detectportal.firefox.com"],
			["/", "example.org"],
			["/settings", "example.org"],
			["/networks", "192.0.2.7:81"],
			["/nothing", "192.0.2.7"],
		] as const) {
			const { status, headers, text } = await ask("GET", path, { headers: { host } });
			equal([status, headers.get("location"), text], [302, "http://192.0.2.7/", ""], `${host}${path}`);
		}
		equal((await ask("HEAD", "/")).status, 302);
		equal((await ask("PUT", "/settings")).status, 405);
	},
	"lists each network once, the strongest first, and only so many": given(beginSetup, async ({ ask, accessPoint }) => {
		accessPoint.found = [
			{ ssid: "a", rssi: -80, secured: true },
			{ ssid: "b", rssi: -60, secured: false },
			{ ssid: "a", rssi: -50, secured: true },
			{ ssid: "", rssi: -40, secured: true },
			...Array.from({ length: 40 }, (_, index) => ({ ssid: `far ${index}`, rssi: -90, secured: true })),
		];
		const { networks } = JSON.parse((await ask("GET", "/networks")).text);
		equal(networks.slice(0, 2), [
			{ ssid: "a", rssi: -50, secured: true },
			{ ssid: "b", rssi: -60, secured: false },
		]);
		equal(networks.length, 20);
	}),
	async "is told the settings without password and token"() {
		const { ask } = beginSetup({ built: { ssid: "home", password: "secret-password", token: "secret-token" } });
		const { text, headers } = await ask("GET", "/settings");
		const { formToken, ...settings } = JSON.parse(text);
		equal(settings, {
			ssid: "home",
			backend: "ws://old/",
			otaUrl: "",
			name: "",
			language: "en",
			timezone: "",
			hasPassword: true,
			hasToken: true,
			device: "xs-mcp-56789a",
			isSafe: false,
			findsGateways: false,
		});
		ok(!text.includes("secret"));
		equal([formToken.length, headers.get("cache-control")], [16, "no-store"]);
	},
	async "page and screen say that the device runs in safe mode"() {
		const { ask, shown } = beginSetup({ isSafe: true });
		equal(JSON.parse((await ask("GET", "/settings")).text).isSafe, true);
		matches(JSON.parse((await ask("GET", "/texts/en")).text).safeMode, /runs in safe mode/);
		matches(shown[0]?.progress ?? "", /runs in safe mode/);
	},
	"is the only one that may change settings": given(beginSetup, async ({ ask, accessPoint }) => {
		const body = JSON.stringify({ ssid: "x", backend: "ws://evil/" });
		const { formToken } = JSON.parse((await ask("GET", "/settings")).text);
		const good = { "x-form-token": formToken };
		for (const [status, headers] of [
			[403, {}],
			[403, { "x-form-token": "guessed" }],
			[403, { ...good, origin: "http://evil.example" }],
			[403, { ...good, origin: "null" }],
			[404, { ...good, host: "evil.example" }],
		] as readonly [number, Record<string, string>][]) {
			equal((await ask("POST", "/settings", { headers, body })).status, status, JSON.stringify(headers));
		}
		equal((await ask("GET", "/settings", { headers: { origin: "http://evil.example" } })).status, 403);
		equal(accessPoint.attempts, []);
	}),
	async "is told what is wrong beside the field, and nothing is tried then"() {
		const { submit, accessPoint } = beginSetup();
		for (const [values, field, text] of [
			[{ ssid: "" }, "ssid", "chooseNetwork"],
			[{ ssid: "é".repeat(17) }, "ssid", "wrongSsid"],
			[{ ssid: 5 }, "ssid", "wrongSsid"],
			[{ password: "short" }, "password", "wrongPassword"],
			[{ token: "a\u0007" }, "token", "wrongToken"],
			[{ name: "n".repeat(600) }, "name", "wrongName"],
		] as const) {
			const { status, body } = await submit({ ssid: "home", backend: "ws://h/", ...values });
			equal([status, body], [400, { errors: { [field]: { text } } }]);
		}
		const { body } = await submit({ ssid: "home", backend: "mqqt://h" });
		equal(body, { errors: { backend: { text: "wrongBackend", detail: "expected ws://, got mqqt://h" } } });
		equal(accessPoint.attempts, []);
	},
	"rejects a body that is no form, and one that is too long": given(beginSetup, async ({ ask, submit }) => {
		for (const text of ["[]", "5", '"x"', "null"]) {
			equal((await submit(JSON.parse(text))).status, 400);
		}
		const { formToken } = JSON.parse((await ask("GET", "/settings")).text);
		const headers = { "x-form-token": formToken };
		equal((await ask("POST", "/settings", { headers, body: "{" })).status, 400);
		equal((await ask("POST", "/settings", { headers, body: "[".repeat(500) })).status, 400);
		equal((await ask("POST", "/settings", { headers, body: "x".repeat(5_000) })).status, 413);
		equal((await ask("POST", "/settings", { headers, body: "\u0000" })).status, 400);
	}),
	"serves a few connections at a time, and gives up those that say nothing"() {
		const { platform, timer } = beginSetup();
		const connections = [1, 2, 3, 4, 5].map(() => platform.connect());
		const closed = connections.map(({ closed }) => closed);
		equal(closed, [false, false, false, false, true]);
		timer.pass(10_000);
		ok(connections.every(({ closed }) => closed));
	},
});
