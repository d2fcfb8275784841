import { spawnSync } from "node:child_process";
import { constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { ProgramError } from "../build/program.js";
import { isAllowed } from "./sdk.js";

/** A serial port, such as "/dev/ttyUSB0", and the system's description of the device, which may be empty. */
type SerialPort = Readonly<Record<"path" | "name", string>>;

/** Names of the ports that boards have: USB-to-serial chips, and chips with USB of their own. */
const BOARD_PORT = /^(ttyUSB\d+|ttyACM\d+|cu\.usb.+|cu\.wchusbserial.+|cu\.SLAB_USBtoUART.*)$/;

/** File with the names of groups on Linux. */
const GROUPS = "/etc/group";

/** Lists the serial ports that a board may be connected to. @param dev the folder of devices */
export function listPorts(dev = "/dev"): SerialPort[] {
	// Linux names each device in a link to its port.
	const folder = join(dev, "serial", "by-id");
	const links = existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name))) : [];
	const names = new Map(links.map((name) => [realpathSync(join(folder, name)), name]));
	return readdirSync(dev)
		.filter((file) => BOARD_PORT.test(file))
		.sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
		.map((file) => ({ path: join(dev, file), name: names.get(realpathSync(join(dev, file))) ?? "" }));
}

/**
 * Chooses the port of the board.
 *
 * @param wanted the requested port, if any
 * @throws ProgramError if there is not exactly one
 */
export function choosePort(wanted: string | undefined, ports: readonly SerialPort[] = listPorts()): string {
	const [first, ...others] = ports;
	if (wanted) {
		return wanted;
	}
	if (first === undefined) {
		throw new ProgramError(
			"no board found: there is no USB serial port. Connect the board with a USB data cable, " +
				"or name its port with --port",
		);
	}
	if (others.length > 0) {
		const lines = ports.map(({ path, name }) => `  ${path}${name && `  ${name}`}`);
		throw new ProgramError(`found several ports. Choose one with --port:\n${lines.join("\n")}`);
	}
	return first.path;
}

/**
 * Checks that this user may use a port.
 *
 * @throws ProgramError with the command that gives the permission
 */
export function checkPort(path: string): void {
	if (!existsSync(path)) {
		throw new ProgramError(`${path} does not exist: is the board connected?`);
	}
	if (!isAllowed(path, constants.R_OK | constants.W_OK)) {
		throw new ProgramError(
			`no permission to use ${path}. Run this command, then log out and in again: ${permissionCommand(path)}`,
		);
	}
}

/** The command that gives the permission to use a port: the user joins the port's group. */
export function permissionCommand(path: string): string {
	const { gid } = statSync(path);
	const lines = existsSync(GROUPS) ? readFileSync(GROUPS, "utf8").split("\n") : [];
	const name = lines.map((line) => line.split(":")).find(([, , id]) => id === String(gid))?.[0];
	// Users must not join the administrator's group.
	return `sudo usermod -aG ${name === undefined || gid === 0 ? "dialout" : name} $USER`;
}

/** Erases the whole flash of a board with ESP-IDF's esptool. @throws ProgramError */
export function eraseFlash(port: string, env: NodeJS.ProcessEnv): void {
	const { status, error } = spawnSync("esptool", ["--port", port, "erase-flash"], { env, stdio: "inherit" });
	if (status !== 0) {
		throw new ProgramError(`esptool could not erase the flash at ${port}: ${error?.message ?? `exit code ${status}`}`);
	}
}
