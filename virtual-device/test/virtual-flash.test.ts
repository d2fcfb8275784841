import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualFlash } from "../src/virtual-flash.js";
import { encodeImage } from "../src/virtual-image.js";

function install(flash: VirtualFlash, image: Buffer): void {
	flash.begin();
	flash.write(image.subarray(0, 10));
	flash.write(image.subarray(10));
	flash.finish();
}

describe("a virtual device's flash", () => {
	it("starts its original firmware, which is not on trial", () => {
		const flash = new VirtualFlash("old");
		assert.deepEqual([flash.boot(), flash.boot()], Array(2).fill({ script: "old", isOnTrial: false }));
	});

	it("starts an installed image on trial, and rolls back unless it is confirmed", () => {
		const flash = new VirtualFlash("old");
		install(flash, encodeImage("new"));
		assert.deepEqual(flash.boot(), { script: "new", isOnTrial: true });
		assert.deepEqual(flash.boot(), { script: "old", isOnTrial: false });
	});

	it("keeps an image that is confirmed", () => {
		const flash = new VirtualFlash("old");
		install(flash, encodeImage("new"));
		flash.boot();
		flash.confirm();
		assert.deepEqual(flash.boot(), { script: "new", isOnTrial: false });
	});

	it("installs nothing that is not a whole image", () => {
		const flash = new VirtualFlash("old");
		const image = encodeImage("new");
		const damaged = Buffer.from(image);
		damaged[13] = (damaged[13] as number) ^ 1;
		for (const wrong of [
			damaged,
			image.subarray(0, image.byteLength - 1),
			Buffer.concat([image, image]),
			Buffer.from("<html>"),
		]) {
			assert.throws(() => install(flash, wrong), /checksum|but its header says|not a firmware image/);
			assert.deepEqual(flash.boot(), { script: "old", isOnTrial: false });
		}
	});

	it("discards a cancelled image", () => {
		const flash = new VirtualFlash("old");
		flash.begin();
		flash.write(encodeImage("new"));
		flash.cancel();
		assert.throws(() => flash.finish(), /not a firmware image/);
	});
});
