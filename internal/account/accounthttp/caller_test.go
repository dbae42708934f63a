package accounthttp

import "testing"

// Only known browsers and systems are named: the header is the client's text.
func TestDeviceName(t *testing.T) {
	const (
		android = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 " +
			"Mobile Safari/537.36"
		iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.5 Mobile/15E148 Safari/604.1"
		firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0"
	)
	for header, want := range map[string]string{
		android: "Chrome, Android", iphone: "Safari, iOS", firefox: "Firefox, Windows", "": "", "curl/8.7": "",
		"Win a prize at evil.example/1.0 (Linux; Android 15)": "",
	} {
		if got := deviceName(header); got != want {
			t.Errorf("deviceName(%q) = %q, want %q", header, got, want)
		}
	}
}
