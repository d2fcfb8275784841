import askUser from "./ask-user.js";
import assetsSetDownloadUrl from "./assets-set-download-url.js";
import assistantSay from "./assistant-say.js";
import audioChime from "./audio-chime.js";
import audioPlay from "./audio-play.js";
import audioStop from "./audio-stop.js";
import getDeviceStatus from "./get-device-status.js";
import getSystemInfo from "./get-system-info.js";
import lightSet from "./light-set.js";
import reboot from "./reboot.js";
import reconfigureWifi from "./reconfigure-wifi.js";
import screenGetInfo from "./screen-get-info.js";
import screenPreviewImage from "./screen-preview-image.js";
import screenSetEmotion from "./screen-set-emotion.js";
import screenShowText from "./screen-show-text.js";
import screenSnapshot from "./screen-snapshot.js";
import sensorRead from "./sensor-read.js";
import setBrightness from "./set-brightness.js";
import setTheme from "./set-theme.js";
import setVolume from "./set-volume.js";
import type { HardwareTool } from "./support/define-tool.js";
import takePhoto from "./take-photo.js";
import timerCancel from "./timer-cancel.js";
import timerList from "./timer-list.js";
import timerSet from "./timer-set.js";
import upgradeFirmware from "./upgrade-firmware.js";

/** Every tool of the firmware, in the order of the list. To add one, import it above and add a line here. */
export const TOOLS: readonly HardwareTool[] = Object.freeze([
	getDeviceStatus,
	setVolume,
	setBrightness,
	setTheme,
	screenShowText,
	screenSetEmotion,
	takePhoto,
	audioPlay,
	audioStop,
	audioChime,
	lightSet,
	sensorRead,
	askUser,
	timerSet,
	timerList,
	timerCancel,
	reconfigureWifi,
	getSystemInfo,
	reboot,
	upgradeFirmware,
	screenGetInfo,
	screenSnapshot,
	screenPreviewImage,
	assetsSetDownloadUrl,
	assistantSay,
]);
