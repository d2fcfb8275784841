import Serial from "embedded:io/serial";
import Time from "time";
import Timer from "timer";
import { findDriver } from "../../platform/in-build.js";
import type { BoardData, OpenMember } from "../board-data.js";
import { HEAD_UART, servoHead } from "../head.js";
import { TouchButton } from "./button-touch.js";
import { boardBus, openOptional } from "./open-optional.js";
import { openScsBus, openScsServo } from "./scs-servo.js";

/** The SDK's Si12T: how hard each of its fields is touched, 0 to 3. */
type Si12T = new (options: object) => { sample(): readonly number[] };

/** Sensitivity of M5Stack's firmware. */
const SENSITIVITY = 3;

/** Opens the touch sensor. Its samples are the fields that are touched. @throws Error if it does not answer */
const openHeadTouch = () => {
	const driver = findDriver<Si12T>("si12t") as Si12T;
	const chip = new driver({ sensor: boardBus(), sensitivityLevel: SENSITIVITY });
	return {
		sample(): readonly object[] | undefined {
			try {
				return chip.sample().flatMap((strength) => (strength > 0 ? [{ strength }] : []));
			} catch {
				// The next poll tries again.
				return undefined;
			}
		},
	};
};

/** Opens the servos of a head, and the touch sensor on it, if it answers, as the button "head". */
export default (({ data, board }) => {
	const { transmit, receive, touch, yaw, pitch } = data.head as NonNullable<BoardData["head"]>;
	if (touch !== undefined) {
		openOptional(board, "touch sensor", () => {
			const head = new TouchButton({ open: openHeadTouch, timer: Timer, ticks: () => Time.ticks });
			Object.assign(board, { buttons: { ...board.buttons, head } });
		});
	}
	const port = { io: Serial, port: HEAD_UART, transmit, receive } as unknown as Parameters<typeof openScsBus>[0];
	const bus = openScsBus(port, Timer);
	const servos = { yaw: openScsServo(bus, Timer, yaw), pitch: openScsServo(bus, Timer, pitch) };
	Object.assign(board, { servos, head: servoHead(servos) });
}) satisfies OpenMember;
