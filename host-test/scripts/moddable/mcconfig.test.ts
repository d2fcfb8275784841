import assert from "node:assert/strict";
import { it } from "node:test";
import { takeGlyphs } from "../../../scripts/moddable/settings.js";

it("the setting glyphs becomes a variable of the manifests, the last one given", () => {
	assert.deepEqual(takeGlyphs(["-p", "esp32", "ssid=home"], { A: "1" }), {
		env: { A: "1" },
		rest: ["-p", "esp32", "ssid=home"],
	});
	assert.deepEqual(takeGlyphs(["glyphs=latin", "ssid=home", "glyphs=ja"], { A: "1" }), {
		env: { A: "1", GLYPHS: "ja" },
		rest: ["ssid=home"],
	});
	assert.throws(
		() => takeGlyphs(["glyphs=klingon"], {}),
		/^SdkError: glyphs: unknown set klingon. Known sets: cjk, zh-hans, ja, latin$/,
	);
});
