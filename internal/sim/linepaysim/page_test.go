package linepaysim

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

func getPage(t *testing.T, s *Simulator, page string) *httptest.ResponseRecorder {
	t.Helper()
	return testenv.Serve(t, s, http.MethodGet, page, "")
}

// The page's policy allows its own style and nothing else, and its form leads to the merchant only.
func TestPage_policy(t *testing.T) {
	s := open(t, Options{})
	_, page := begin(t, s, paymentRequest())
	w := getPage(t, s, page)
	nonce := regexp.MustCompile(`<style nonce="([A-Z2-7]{26})">`).FindStringSubmatch(w.Body.String())
	if nonce == nil {
		t.Fatalf("the style of the page has no nonce: %s", w.Body)
	}
	want := "default-src 'none'; style-src 'nonce-" + nonce[1] + "'; base-uri 'none'; " +
		"frame-ancestors 'none'; form-action 'self' https://eat.example http://other.example:8080"
	testenv.Equal(t, want, w.Header().Get("Content-Security-Policy"))
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("header %s = %s, want %s", name, got, want)
		}
	}
	for _, never := range []string{"<script", "style=\"", "<b>小籠包", "src="} {
		if strings.Contains(w.Body.String(), never) {
			t.Errorf("the page has %s", never)
		}
	}
}

func TestPage_languages(t *testing.T) {
	s := open(t, Options{})
	_, chinese := begin(t, s, paymentRequest())
	_, english := begin(t, s, paymentRequest("zh_TW", "th"))
	for page, words := range map[string][]string{
		chinese:                 {`<html lang="zh-TW">`, "LINE Pay 模擬器", "付款", "20 分鐘內付款", `href="?lang=en"`, "A &amp; B", "TWD 360"},
		chinese + "?lang=en":    {`<html lang="en">`, "20 minutes left", `href="?lang=zh-TW"`},
		english:                 {`<html lang="en">`, `value="pay"`, `value="cancel"`, `value="decline"`, `value="close"`, `value="leave"`, `value="twice"`},
		english + "?lang=xx":    {`<html lang="en">`},
		english + "?lang=zh-TW": {`<html lang="zh-TW">`},
	} {
		w := getPage(t, s, page)
		for _, word := range words {
			if !strings.Contains(w.Body.String(), word) {
				t.Errorf("%s has no %s", page, word)
			}
		}
	}
	for word := range paymentPage.Texts("en") {
		if paymentPage.Texts("zh-TW")[word] == "" {
			t.Errorf("no Chinese for %s", word)
		}
	}
	if len(paymentPage.Texts("en")) != len(paymentPage.Texts("zh-TW")) {
		t.Error("a word is missing in English")
	}
}

// After the decision, the page shows the result instead of the buttons, with a link back.
func TestPage_decided(t *testing.T) {
	for action, c := range map[string]struct{ text, backLink string }{
		"leave":   {paymentPage.Texts("zh-TW")["APPROVED"], "https://eat.example/c?a=1&amp;transactionId="},
		"cancel":  {paymentPage.Texts("zh-TW")["CANCELED"], "http://other.example:8080/x?transactionId="},
		"decline": {paymentPage.Texts("zh-TW")["DECLINED"], "http://other.example:8080/x?transactionId="},
	} {
		s := open(t, Options{})
		_, page := begin(t, s, paymentRequest())
		press(t, s, page, action)
		body := getPage(t, s, page).Body.String()
		if !strings.Contains(body, c.text) || !strings.Contains(body, c.backLink) || strings.Contains(body, "<button") {
			t.Errorf("page after %s = %s, want %q, a link back and no button", action, body, c.text)
		}
	}
}

func TestPage_redirects(t *testing.T) {
	now := noon
	s := open(t, Options{Now: func() time.Time { return now }})
	id, page := begin(t, s, paymentRequest())
	want := "https://eat.example/c?a=1&transactionId=" + id + "&orderId=o1"
	for range 2 { // approved in two windows
		if w := press(t, s, page, "pay"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("pay: status %d to %s, want 303 to %s", w.Code, w.Header().Get("Location"), want)
		}
	}
	if w := press(t, s, page, "cancel"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "http://other.example:8080/x?transactionId="+id+"&orderId=o1" {
		t.Errorf("cancel: status %d to %s, want 303 to the cancel page", w.Code, w.Header().Get("Location"))
	}
	_, page = begin(t, s, paymentRequest())
	for _, action := range []string{"", "close", "unknown"} {
		if w := press(t, s, page, action); w.Code != http.StatusOK {
			t.Errorf("button %s: status %d, want 200", action, w.Code)
		}
	}
	now = now.Add(Window)
	for _, action := range []string{"cancel", "decline", "leave", "twice"} {
		if w := press(t, s, page, action); w.Code != http.StatusOK {
			t.Errorf("%s after the end: %d", action, w.Code)
		}
	}
	w := press(t, s, page, "pay")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `value="late"`) || strings.Contains(w.Body.String(), `value="pay"`) {
		t.Errorf("pay after the end: status %d with body %s, want only the late button", w.Code, w.Body)
	}
	testenv.Equal(t, http.StatusSeeOther, press(t, s, page, "late").Code)
	testenv.Equal(t, http.StatusNotFound, getPage(t, s, "/pay/unknown").Code)
}

// Paying twice opens the confirm URL from the simulator as well as from the guest's browser, and Close waits for it.
func TestPage_twice(t *testing.T) {
	seen := make(chan *url.URL, 1)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL
		http.Redirect(w, r, "/elsewhere", http.StatusSeeOther)
	}))
	defer shop.Close()
	s := open(t, Options{})
	id, page := begin(t, s, paymentRequest("https://eat.example", shop.URL))
	w := press(t, s, page, "twice")
	select {
	case u := <-seen:
		if u.String() != "/c?a=1&transactionId="+id+"&orderId=o1" || w.Header().Get("Location") != shop.URL+u.String() {
			t.Errorf("%s and %s", u, w.Header().Get("Location"))
		}
	case <-time.After(10 * time.Second):
		t.Error("no second browser came")
	}
	s.Close()
	if len(seen) != 0 {
		t.Error("a redirect was followed")
	}
	s.visit(shop.URL)
	if len(seen) != 0 {
		t.Error("an address was opened after the end")
	}
}
