import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Command } from "commander";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { addSettings } from "../src/moddable/settings.js";
import { ROOT } from "../src/root.js";

/** The problems of settings of a command line, one a line; "" for none. */
function problems(words: readonly string[], folder = ROOT): string {
	try {
		addSettings(new Command(), folder, "")
			.action(() => {})
			.parse([...words], { from: "user" });
		return "";
	} catch (error) {
		return (error as Error).message;
	}
}

/** A project's folder with this `config`. */
function projectWith(config: object): string {
	const folder = join(temporaryFolder("xs-mcp-settings-"), "project");
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ config }));
	return folder;
}

describe("settings of a build", () => {
	it("accepts valid settings and names of the SDK", () => {
		for (const words of [
			[],
			["ssid=home", "password=12345678", "backend=wss://host/path?a=b"],
			["backend=mdns:"],
			["backend=mqtt://broker", "mqttUsername=u", "mqttPassword=p", "publishTopic=a/b"],
			["http=80", "httpToken=secret"],
			["http=", "otaUrl=https://host/ota", "keepAlive=60"],
			["rotation=90"],
			["timezone=EST5EDT"],
		]) {
			assert.equal(problems(words), "", words.join(" "));
		}
	});

	it("names the setting that an unknown one resembles", () => {
		assert.equal(problems(["ssid=home", "pasword=b"]), "pasword: unknown setting: did you mean password?");
		assert.equal(problems(["SSID=home"]), "SSID: unknown setting: did you mean ssid?");
		assert.equal(problems(["httptoken=b"]), "httptoken: unknown setting: did you mean httpToken?");
		assert.match(problems(["glyphs=ja"]), /^glyphs: .*Set GLYPHS in the environment$/);
		assert.match(problems(["temperature=1"]), /^temperature: unknown setting; docs\/moddable\.md/);
		assert.match(problems(["toString=1"]), /^toString: unknown setting/);
	});

	it("rejects an invalid value with the device's message", () => {
		assert.equal(problems(["keepAlive=abc"]), 'keepAlive: expected whole seconds from 1 to 65535, got "abc"');
		assert.match(problems(["backend=foo"]), /^backend: expected scheme:.*got "foo"$/);
		assert.equal(problems(["backend=http://h"]), "backend: this device does not support http://");
		assert.match(problems(["backend=mqtt://h", "publishTopic=a/#"]), /^publishTopic: expected a topic without/);
		assert.equal(problems(["backend=mqtt://h", "mqttPassword=p"]), "mqttUsername: required with mqttPassword");
		assert.match(problems(["http=80"]), /^httpToken: a device that listens on 0\.0\.0\.0 needs a token$/);
		assert.match(problems(["timezone=Berlin"]), /^timezone: expected a time zone such as CET-1CEST,.*got "Berlin"$/);
		assert.match(problems(["otaUrl=ws://h/"]), /^otaUrl: expected http:/);
	});

	it("reports every wrong setting at once", () => {
		assert.deepEqual(
			problems(["pasword=b", "keepAlive=0", "session=never"])
				.split("\n")
				.map((line) => line.split(":")[0]),
			["pasword", "session", "keepAlive"],
		);
	});

	it("never quotes a secret", () => {
		assert.equal(problems(["password=short"]), "password: expected 8 to 64 bytes, or none");
		assert.doesNotMatch(problems(["hmacKey=topsecret"]), /topsecret/);
	});

	it("checks them together with the config of a project's manifest, which may have names of its own", () => {
		const folder = projectWith({ httpToken: "secret", port: 8080, keepAlive: "abc" });
		assert.match(problems(["http=80", "port=9"], folder), /^keepAlive: expected whole seconds/);
		assert.equal(problems(["http=80", "port=9", "keepAlive=9"], folder), "");
	});
});
