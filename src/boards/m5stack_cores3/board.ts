import config from "mc/config";
import Timer from "timer";
import { Aw88298 } from "../../drivers/aw88298.js";
import { Axp2101 } from "../../drivers/axp2101.js";
import { openDevice, type SmBusRecord, writeRegisters } from "../../drivers/smbus.js";
import type { Board } from "../../hardware/hardware.js";
import { openCamera } from "../../platform/camera.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openImu } from "../../platform/imu.js";
import { openLightSensor } from "../../platform/light-sensor.js";
import { openOptional } from "../../platform/open-optional.js";
import { openPreview } from "../../platform/preview.js";
import { openRtc } from "../../platform/rtc.js";
import { openTouch } from "../../platform/touch.js";

/** AXP2101: which supplies are on, at what voltage, how the power key and the charging light behave. */
const SUPPLIES = [
	[0x90, 0xbf],
	[0x92, 13],
	[0x93, 28],
	[0x94, 28],
	[0x95, 28],
	[0x27, 0x00],
	[0x69, 0x11],
	[0x10, 0x30],
	[0x30, 0x0f],
] as const;

/** AW9523, a port expander: directions and levels of its pins, among them the amplifier's and the screen's resets. */
const PORT_EXPANDER = 0x58;
const PORT_1 = 0x03;
const SCREEN_RESET = 0b0010_0000;
const PORTS = [
	[0x02, 0b0000_0111],
	[PORT_1, 0b1000_0011],
	[0x04, 0b0001_1000],
	[0x05, 0b0000_1100],
	[0x11, 0b0001_0000],
	[0x12, 0b1111_1111],
	[0x13, 0b1111_1111],
] as const;

/** Milliseconds that the screen's controller is held in reset. */
const RESET_TIME = 20;

/** The I2C buses of this target. The SDK's typings know only one of them. */
interface Buses {
	/** The one that the board's own chips are on. */
	readonly internal: object;
}

/** The screen's controller has no reset pin of the chip's: it hangs on the port expander. */
function resetScreen(bus: SmBusRecord): void {
	const expander = openDevice(bus, PORT_EXPANDER);
	try {
		writeRegisters(expander, PORTS);
		expander.writeUint8(PORT_1, expander.readUint8(PORT_1) & ~SCREEN_RESET);
		Timer.delay(RESET_TIME);
		expander.writeUint8(PORT_1, expander.readUint8(PORT_1) | SCREEN_RESET);
	} finally {
		expander.close();
	}
}

/** What the firmware runs without, if it does not answer. */
function openSensors(bus: SmBusRecord) {
	const motion = openOptional("motion sensor", () => openImu());
	const light = openOptional("light sensor", () => openLightSensor(bus));
	return {
		...((motion ?? light) && { sensors: { ...(motion && { motion }), ...(light && { light }) } }),
		closeSensors() {
			motion?.close();
			light?.close();
		},
	};
}

/**
 * M5Stack CoreS3: ESP32-S3, screen with touch, speaker, camera, battery, motion and light sensor, real-time clock. Microphones
 * are not used.
 */
export function openBoard() {
	const { internal } = device.I2C as unknown as Buses;
	const bus = { ...internal, io: device.io.SMBus } as unknown as SmBusRecord;
	const power = new Axp2101({ bus, registers: SUPPLIES });
	resetScreen(bus);
	const speaker = new Aw88298(bus);
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const touch = openOptional("touch screen", () => openTouch());
	const { closeSensors, ...sensors } = openSensors(bus);
	const esp32 = openEsp32("m5stack_cores3", openOptional("real-time clock", openRtc));
	return {
		...esp32,
		speaker,
		screen,
		preview,
		// Its sensor makes no JPEG files.
		camera: openCamera({ width: 320, height: 240, jpeg: false }),
		battery: power,
		...(touch && { buttons: { screen: touch } }),
		...sensors,
		close() {
			touch?.close();
			closeSensors();
			esp32.network.close();
			preview.close();
			screen.close();
			speaker.close();
			power.close();
		},
	} satisfies Board;
}
