import type { Feature } from "../listener.js";
import { settingText } from "../settings/read-setting.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { ENGLISH, type Words } from "./en.js";

/** The words of each language that the setting `language` may name. */
export const LANGUAGES: Readonly<Record<"en" | "ja" | "zh", Words>> = deepFreeze({
	en: ENGLISH,
	ja: {
		offline: "オフライン",
		setup: "設定",
		connecting: "接続中",
		listening: "聞いています",
		updating: "更新中",
		error: "エラー",
		noBackend: "サーバーなし",
		updateFailed: "更新に失敗しました",
		safeMode: "セーフモード",
		modSkipped: "Modを読み込めません",
		invalidSetting: "設定が正しくありません",
		timer: "タイマー",
		joinWifi: "1. Wi-Fiに接続",
		openPage: "2. 開く",
		howToChoose: "押す: 次へ  長押し: 決定",
		pressed: "ボタン「{button}」が押されました。",
		held: "ボタン「{button}」が長押しされました。",
		measured: "センサー「{sensor}」({kind})の値は{value}になりました。",
		due: "タイマー「{timer}」の時間です。",
	},
	/** Simplified Chinese. */
	zh: {
		offline: "离线",
		setup: "配网",
		connecting: "连接中",
		listening: "聆听中",
		updating: "更新中",
		error: "错误",
		noBackend: "没有服务器",
		updateFailed: "更新失败",
		safeMode: "安全模式",
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
	},
});

/** The words of the language that the setting names. In a fatal error that setting may be the one that cannot be used. */
export default {
	name: "language",
	rescue: true,
	start(app) {
		const name = app.failure === undefined ? app.setting("language") : settingText("language", app.source);
		app.words = LANGUAGES[name as keyof typeof LANGUAGES] ?? ENGLISH;
	},
} satisfies Feature;
