import { deepFreeze } from "../text/deep-freeze.js";
import type { Words } from "./en.js";

/** The words of the device in simplified Chinese. */
export const CHINESE: Words = deepFreeze({
	offline: "离线",
	setup: "配网",
	connecting: "连接中",
	listening: "聆听中",
	updating: "更新中",
	error: "错误",
	noBackend: "没有服务器",
	updateFailed: "更新失败",
	modSkipped: "模块未加载",
	invalidSetting: "设置无效",
	timer: "定时器",
	joinWifi: "1. 连接 Wi-Fi",
	openPage: "2. 打开",
	howToChoose: "按: 下一个  长按: 选定",
	pressed: "按钮“{button}”被按下了。",
	held: "按钮“{button}”被长按了。",
	measured: "传感器“{sensor}”({kind})现在测得{value}。",
	due: "定时器“{timer}”时间到了。",
});
