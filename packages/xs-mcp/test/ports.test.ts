import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { checkPort, choosePort, listPorts } from "../src/moddable/ports.js";

/** A folder with the names of devices, as /dev has them. */
function makeDev(files: readonly string[], names: Readonly<Record<string, string>> = {}): string {
	const dev = temporaryFolder("xs-mcp-dev-");
	for (const file of files) {
		writeFileSync(join(dev, file), "");
	}
	mkdirSync(join(dev, "serial", "by-id"), { recursive: true });
	for (const [name, file] of Object.entries(names)) {
		symlinkSync(join("..", "..", file), join(dev, "serial", "by-id", name));
	}
	return dev;
}

describe("the serial ports of boards", { skip: process.platform === "win32" && "Windows has other names" }, () => {
	it("are USB ports, in their order, with the names that the system has for them", () => {
		const files = ["null", "ttyS0", "tty1", "ttyUSB10", "ttyUSB2", "ttyACM0", "cu.usbserial-0001", "cu.Bluetooth"];
		const dev = makeDev(files, { "usb-Silicon_Labs_CP2104-if00-port0": "ttyUSB2", "usb-gone": "ttyUSB3" });
		assert.deepEqual(listPorts(dev), [
			{ path: join(dev, "cu.usbserial-0001"), name: "" },
			{ path: join(dev, "ttyACM0"), name: "" },
			{ path: join(dev, "ttyUSB2"), name: "usb-Silicon_Labs_CP2104-if00-port0" },
			{ path: join(dev, "ttyUSB10"), name: "" },
		]);
	});

	it("need no choice if there is one, or if the person names one", () => {
		const ports = listPorts(makeDev(["ttyUSB0"]));
		assert.match(choosePort(undefined, ports), /ttyUSB0$/);
		assert.match(choosePort("", ports), /ttyUSB0$/);
		assert.equal(choosePort("/dev/ttyS4", ports), "/dev/ttyS4");
	});

	it("are listed if there are several, and the person is asked to choose", () => {
		const dev = makeDev(["ttyUSB0", "ttyACM0"], { "usb-Espressif_USB_JTAG": "ttyACM0" });
		const listed = /found several ports\. Choose one with --port:\n.*ttyACM0 {2}usb-Espressif_USB_JTAG\n.*ttyUSB0$/;
		assert.throws(() => choosePort(undefined, listPorts(dev)), listed);
	});

	it("may be missing, which is reported with a hint", () => {
		assert.throws(() => choosePort(undefined, listPorts(makeDev(["ttyS0"]))), /no board found: .*USB data cable/);
		assert.throws(() => checkPort("/dev/xs-mcp-none"), /\/dev\/xs-mcp-none does not exist/);
	});
});
