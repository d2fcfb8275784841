import Serial from "embedded:io/serial";
import Time from "time";
import Timer from "timer";
import type { BoardData, OpenMember } from "../board-data.js";
import { HEAD_UART, servoHead } from "../head.js";
import { TouchButton } from "./button-touch.js";
import { boardBus, chipClass, openOptional } from "./open-optional.js";
import { openScsServo, type ServoPort, scsBus } from "./scs-servo.js";

/** The SDK's Si12T: how hard each of its fields is touched, 0 to 3. */
type Si12T = new (options: object) => { sample(): readonly number[] };

/** Sensitivity of M5Stack's firmware. */
const SENSITIVITY = 3;

/** Opens the touch sensor. Its samples are the fields that are touched. @throws Error if it does not answer */
const openHeadTouch = () => {
	const Driver = chipClass<Si12T>("si12t", "sensor", "Touch");
	const chip = new Driver({ sensor: boardBus(), sensitivityLevel: SENSITIVITY });
	return {
		sample() {
			try {
				return chip.sample().filter((strength) => strength > 0);
			} catch {
				// The next poll tries again.
				return undefined;
			}
		},
	};
};

/** Opens the servos of a head, and the touch sensor on it, if it answers, as the button "head". */
export default (({ data, board, log }) => {
	const { transmit, receive, touch, yaw, pitch } = data.head as NonNullable<BoardData["head"]>;
	if (touch !== undefined) {
		openOptional(log, "touch sensor", () => {
			const head = new TouchButton({ open: openHeadTouch, timer: Timer, ticks: () => Time.ticks });
			Object.assign(board, { buttons: { ...board.buttons, head } });
		});
	}
	const pins = { port: HEAD_UART, transmit, receive };
	// A port without any callback reads beyond its memory in SDK 8.2.3.
	const port = new Serial({ ...pins, baud: 1_000_000, format: "buffer", onWritable() {} });
	const bus = scsBus(port as ServoPort, Timer);
	const servos = { yaw: openScsServo(bus, Timer, yaw), pitch: openScsServo(bus, Timer, pitch) };
	Object.assign(board, { servos, head: servoHead(servos) });
}) satisfies OpenMember;
