import type { Feature } from "../core/listener.js";
import { settingText } from "../core/read-setting.js";
import { byLanguage } from "../core/text/by-language.js";

/** The device's words, for its screen and the backend's model. `{name}` is a placeholder. */
export const LANGUAGES = byLanguage({
	offline: ["Offline", "オフライン", "离线"],
	setup: ["Set-up", "設定", "配网"],
	connecting: ["Connecting", "接続中", "连接中"],
	listening: ["Listening", "聞いています", "聆听中"],
	updating: ["Updating", "更新中", "更新中"],
	error: ["Error", "エラー", "错误"],
	noBackend: ["No backend", "サーバーなし", "没有服务器"],
	updateFailed: ["Update failed", "更新に失敗しました", "更新失败"],
	safeMode: ["Safe mode", "セーフモード", "安全模式"],
	modSkipped: ["Mod skipped", "Modを読み込めません", "模块未加载"],
	invalidSetting: ["Invalid setting", "設定が正しくありません", "设置无效"],
	timer: ["Timer", "タイマー", "定时器"],
	joinWifi: ["1. Join the Wi-Fi", "1. Wi-Fiに接続", "1. 连接 Wi-Fi"],
	openPage: ["2. Open", "2. 開く", "2. 打开"],
	howToChoose: ["Press: next. Hold: this one.", "押す: 次へ  長押し: 決定", "按: 下一个  长按: 选定"],
	pressed: ['The button "{button}" was pressed.', "ボタン「{button}」が押されました。", "按钮“{button}”被按下了。"],
	held: ['The button "{button}" was held down.', "ボタン「{button}」が長押しされました。", "按钮“{button}”被长按了。"],
	measured: [
		'The sensor "{sensor}" ({kind}) now measures {value}.',
		"センサー「{sensor}」({kind})の値は{value}になりました。",
		"传感器“{sensor}”({kind})现在测得{value}。",
	],
	due: ['The timer "{timer}" is due.', "タイマー「{timer}」の時間です。", "定时器“{timer}”时间到了。"],
});

/** The words of one language. */
export type Words = typeof LANGUAGES.en;

/** The words in the language of the setting. After a fatal error, that setting may be the one that cannot be used. */
export default {
	name: "language",
	rescue: true,
	start(app) {
		const name = app.failure === undefined ? app.setting("language") : settingText("language", app.source);
		app.words = LANGUAGES[name as keyof typeof LANGUAGES] ?? LANGUAGES.en;
	},
} satisfies Feature;
