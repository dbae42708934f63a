package vnpaysim_test

import (
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"comanda/internal/payment"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/testenv"
)

func TestNew_refuses(t *testing.T) {
	for name, o := range map[string]vnpaysim.Options{
		"no site":   {HashSecret: secret},
		"no secret": {TmnCode: site},
		"no IPN":    {TmnCode: site, HashSecret: secret, IPN: "ipn"},
	} {
		if _, err := vnpaysim.New(o); err == nil {
			t.Errorf("%s: made", name)
		}
	}
}

// The page's policy allows only its one style and its form, and the page is in the guest's language.
func TestPage(t *testing.T) {
	h := newMerchant(t)
	_, page := h.begin()
	w := httptest.NewRecorder()
	h.sim.ServeHTTP(w, httptest.NewRequest(http.MethodGet, page, http.NoBody))
	text := html.UnescapeString(w.Body.String())
	nonce := regexp.MustCompile(`<style nonce="([A-Z2-7]{26})">`).FindStringSubmatch(text)
	if nonce == nil || strings.Contains(text, "<script") || strings.Contains(text, "style=") || strings.Contains(text, "ZgotmplZ") {
		t.Fatalf("the page is %s", text)
	}
	want := "default-src 'none'; style-src 'nonce-" + nonce[1] + "'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' " + h.url
	testenv.Equal(t, want, w.Header().Get("Content-Security-Policy"))
	for _, s := range []string{
		`<html lang="vi">`, "150.000 ₫", "Thanh toan don hang A17 Pho Thin", "đến 01:45:00 (GMT+7)", "animation: run 900s steps(900, end)",
		`name="action" value="pay"`, `value="decline"`, `value="close"`, `value="late"`, `value="twice"`,
	} {
		if !strings.Contains(text, s) {
			t.Errorf("the page lacks %s", s)
		}
	}
	_, text = h.get(page + "&lang=en")
	if !strings.Contains(text, `<html lang="en">`) || !strings.Contains(text, ">Pay<") {
		t.Errorf("in English the page is %s", text)
	}
	other := regexp.MustCompile(`href="(\?[^"]+)" lang="vi"`).FindStringSubmatch(text)
	if other == nil {
		t.Fatalf("there is no way back to Vietnamese in %s", text)
	}
	if status, text := h.get(h.api + vnpaysim.PayPath + html.UnescapeString(other[1])); status != http.StatusOK || !strings.Contains(text, `<html lang="vi">`) {
		t.Errorf("the other language: %d, %s", status, text)
	}
}

func (h *merchant) control(method, contentType, body string) (int, string) {
	h.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(h.t.Context(), method, h.api+"/control", strings.NewReader(body)))(h.t)
	r.Header.Set("Content-Type", contentType)
	resp, err := newClient().Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	text := testenv.Must(io.ReadAll(resp.Body))(h.t)
	return resp.StatusCode, string(text)
}

func TestSimulator_faults_by_HTTP(t *testing.T) {
	h := newMerchant(t)
	id, page := h.begin()
	status, text := h.control(http.MethodPut, "application/json", `{"faults":{"repeat":1,"corrupt":"upper"}}`)
	want := vnpaysim.Faults{Repeat: 1, Corrupt: vnpaysim.UpperCase}
	if status != http.StatusOK || h.sim.Faults() != want || !strings.Contains(text, `"repeat":1`) {
		t.Errorf("PUT: status %d with body %s, faults %+v, want %+v", status, text, h.sim.Faults(), want)
	}
	h.act(page, "pay")
	_, text = h.control(http.MethodGet, "", "")
	for _, s := range []string{`"answers":{"00":1,"02":1}`, `"txnRef":"` + id + `"`, `"state":"PAID"`, `"amount":150000`} {
		if !strings.Contains(text, s) {
			t.Errorf("the control lacks %s: %s", s, text)
		}
	}
	for body, code := range map[string]int{
		`{"faults":{"corrupt":"badly"}}`:  http.StatusBadRequest,
		`{"faults":{"repeat":101}}`:       http.StatusBadRequest,
		`{"faults":{"lose":-1}}`:          http.StatusBadRequest,
		`{"faults":{"refundCode":"ok"}}`:  http.StatusBadRequest,
		`{"faults":{"delayMs":3600001}}`:  http.StatusBadRequest,
		`{"faults":{"nonsense":1}}`:       http.StatusBadRequest,
		`{`:                               http.StatusBadRequest,
		strings.Repeat(" ", 1<<17) + "{}": http.StatusBadRequest,
	} {
		if status, _ := h.control(http.MethodPut, "application/json", body); status != code {
			t.Errorf("PUT %.40s: status %d, want %d", body, status, code)
		}
	}
	if status, _ := h.control(http.MethodPut, "text/plain", `{"faults":{}}`); status != http.StatusUnsupportedMediaType {
		t.Errorf("a form of another site: %d", status)
	}
	if h.sim.Faults() != want {
		t.Errorf("what was refused has changed the faults: %+v", h.sim.Faults())
	}
}

// Memory is bounded: the oldest payment is forgotten.
func TestSimulator_forgets_the_oldest_payment(t *testing.T) {
	h := newMerchant(t, func(o *vnpaysim.Options) { o.Keep = 3 })
	first, page := h.begin()
	h.get(page)
	for range 3 {
		_, page := h.begin()
		h.get(page)
	}
	testenv.Equal(t, 3, len(h.sim.Payments()))
	testenv.Equal(t, "91", testenv.Must(h.m.Check(t.Context(), h.attempt(first)))(t).Code)
}

// Close while notifications are waiting or being sent ends all of them and starts no more.
func TestClose(t *testing.T) {
	h := newMerchant(t)
	h.breakDown(true)
	_, page := h.begin()
	_, late := h.begin()
	h.act(page, "leave") // the clock is not advanced, so the second try is pending
	h.awaitStory("ipn 99")
	h.act(late, "late")
	h.sim.Close()
	h.sim.Close()
	if status, _ := h.get(page); status != http.StatusServiceUnavailable {
		t.Errorf("a closed simulator answers %d", status)
	}
	testenv.Equal(t, "ipn 99", h.story())
}

// Many concurrent guests: each payment is captured once and reported to the merchant once.
func TestSimulator_many_guests(t *testing.T) {
	h := newMerchant(t)
	h.faults(vnpaysim.Faults{Repeat: 1, AtOnce: true})
	var all errgroup.Group
	all.SetLimit(16)
	var ids []string
	for range 40 {
		id, page := h.begin()
		ids = append(ids, id)
		for range 2 {
			all.Go(func() error { h.act(page, "pay"); return nil })
		}
	}
	testenv.NoError(t, all.Wait())
	refs := map[string]bool{}
	for _, id := range ids {
		a := h.attempt(id)
		if a.State != payment.Paid || refs[a.GatewayRef] {
			t.Errorf("attempt %+v", a)
		}
		refs[a.GatewayRef] = true
	}
	h.wantAttempt(ids[0], payment.Paid, 40)
}
