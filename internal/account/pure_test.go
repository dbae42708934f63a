package account

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

var noon = time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)

func TestNormalizeEmail(t *testing.T) {
	for in, want := range map[string]string{
		"a@b.vn": "a@b.vn", " Lan.Nguyen+x@Example.COM ": "lan.nguyen+x@example.com", "o'hara@a-b.co.uk": "o'hara@a-b.co.uk",
	} {
		if got, ok := NormalizeEmail(in); !ok || got != want {
			t.Errorf("NormalizeEmail(%q) = %q, %t, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", "a", "@b.vn", "a@", "a@b", "a@b.", "a@.vn", "a@-b.vn", "a b@c.vn", ".a@b.vn", "a.@b.vn", "a..b@c.vn",
		"a@b.vn\r\nBcc: c@d.vn", "a@b@c.vn", "lân@example.com", "a@exämple.com", "<a@b.vn>", "a@b.1n",
		strings.Repeat("a", 65) + "@b.vn", "a@" + strings.Repeat("b.", 126) + "vn",
	} {
		if got, ok := NormalizeEmail(in); ok {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
}

func TestProfile_Normalized(t *testing.T) {
	age := 30
	got, err := Profile{
		Username: " Lan.N ", Email: "LAN@example.com", Phone: "+84 (24) 3-826.0000", DeviceID: " ABC-1 ", Address: " 1 Hàng Bài ",
		Gender: "female", FirstName: "Lan", Age: &age, Province: "Hà Nội", Geolocation: " 21.0285000 , 105.8542 ",
		Extra: json.RawMessage(` { "diet" : [ "vegan" ] } `),
	}.Normalized()
	want := Profile{
		Username: "lan.n", Email: "lan@example.com", Phone: "+842438260000", DeviceID: "abc-1", Address: "1 Hàng Bài",
		Gender: "FEMALE", FirstName: "Lan", Age: &age, Province: "Hà Nội", Geolocation: "21.0285,105.8542",
		Extra: json.RawMessage(`{"diet":["vegan"]}`),
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if p, err := (Profile{}).Normalized(); err != nil || !cmp.Equal(p, Profile{}) {
		t.Errorf("an empty profile: %+v, %v", p, err)
	}
}

func TestProfile_Normalized_refuses(t *testing.T) {
	old := 151
	for name, p := range map[string]Profile{
		"email": {Email: "a"}, "short name": {Username: "ab"}, "name like an e-mail": {Username: "a@b.vn"},
		"name with a space": {Username: "a b c"}, "name of dots": {Username: "..."}, "phone": {Phone: "12345"},
		"phone with letters": {Phone: "+84abc12345"}, "E.164 with a zero": {Phone: "+0123456789"},
		"device": {DeviceID: "a b"}, "long device": {DeviceID: strings.Repeat("x", 129)}, "gender": {Gender: "F"},
		"age": {Age: &old}, "address of two lines": {Address: "a\nb"}, "long city": {City: strings.Repeat("x", 101)},
		"no place": {Geolocation: "here"}, "no number": {Geolocation: "NaN,1"}, "beyond the pole": {Geolocation: "91,0"},
		"round the world": {Geolocation: "0,180.5"}, "three numbers": {Geolocation: "1,2,3"},
		"a list": {Extra: json.RawMessage(`[1]`)}, "broken": {Extra: json.RawMessage(`{`)},
		"NUL":  {Extra: json.RawMessage(`{"a":"\u0000"}`)},
		"much": {Extra: json.RawMessage(`{"a":"` + strings.Repeat("x", 8<<10) + `"}`)},
	} {
		if _, err := p.Normalized(); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Normalized(%s): error %v, want Invalid", name, err)
		}
	}
}

func TestProfileChanges_Apply(t *testing.T) {
	empty, city := "", " Huế "
	before := Profile{Email: "a@b.vn", Phone: "0912345678", City: "Hà Nội", Surname: "Trần", Extra: json.RawMessage(`{"a":1}`)}
	got, err := ProfileChanges{Phone: &empty, City: &city, Extra: json.RawMessage(`{}`)}.Apply(before)
	if d := cmp.Diff(Profile{Email: "a@b.vn", City: "Huế", Surname: "Trần"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err := (ProfileChanges{}).Apply(before); err != nil || !cmp.Equal(got, before) {
		t.Errorf("nothing changed: %+v, %v", got, err)
	}
}

func TestSession_JudgeRefresh(t *testing.T) {
	u := User{ID: 1, Role: authz.RoleUser, Status: Active}
	s := newSession("s", u, Caller{}, "current", noon)
	s.PreviousHash = "previous"
	past := func(change func(*User, *Session)) func() (User, Session) {
		return func() (User, Session) {
			u, s := u, s
			change(&u, &s)
			return u, s
		}
	}
	same := past(func(*User, *Session) {})
	for name, c := range map[string]struct {
		of    func() (User, Session)
		token string
		after time.Duration
		want  RefreshVerdict
	}{
		"the current token":            {same, "current", 0, RefreshRotate},
		"the current token, late":      {same, "current", memberIdle - 1, RefreshRotate},
		"idle for too long":            {same, "current", memberIdle, RefreshEnded},
		"the one before, at once":      {same, "previous", 10 * time.Second, RefreshRepeat},
		"the one before, later":        {same, "previous", 10*time.Second + 1, RefreshReuse},
		"an older one":                 {same, "older", 0, RefreshReuse},
		"an older one of an old login": {same, "older", memberIdle, RefreshEnded},
		"an ended session":             {past(func(_ *User, s *Session) { s.EndedAt = noon }), "current", 0, RefreshEnded},
		"a disabled account":           {past(func(u *User, _ *Session) { u.Status = Disabled }), "current", 0, RefreshEnded},
		"a password reset at once":     {past(func(u *User, _ *Session) { u.ValidFrom = noon }), "current", 0, RefreshEnded},
		"a password reset before":      {past(func(u *User, _ *Session) { u.ValidFrom = noon.Add(-1) }), "current", 0, RefreshRotate},
	} {
		u, s := c.of()
		if got := s.JudgeRefresh(u, c.token, noon.Add(c.after)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestSessionLifetimes(t *testing.T) {
	for role, want := range map[string][2]time.Duration{
		authz.RoleUser: {30 * 24 * time.Hour, 90 * 24 * time.Hour}, authz.RoleKitchen: {30 * time.Minute, 12 * time.Hour},
		authz.RoleOwner: {30 * time.Minute, 12 * time.Hour}, "BARISTA": {30 * time.Minute, 12 * time.Hour},
	} {
		u := User{Role: role, Status: Active}
		s := newSession("s", u, Caller{}, "a", noon)
		if s.IdleUntil.Sub(noon) != want[0] || s.ExpiresAt.Sub(noon) != want[1] {
			t.Errorf("session of %s: idle until %v, expires at %v, want %v and %v later", role, s.IdleUntil, s.ExpiresAt, want[0], want[1])
		}
		late := noon.Add(want[1] - time.Minute)
		s = s.Rotated(u, "b", "", late)
		if s.IdleUntil != noon.Add(want[1]) || s.claims().ExpiresAt != noon.Add(want[1]) {
			t.Errorf("%s: a rotation exceeds the maximum lifetime: %v, %v", role, s.IdleUntil, s.claims().ExpiresAt)
		}
	}
}

// A session that begins right after all sessions were ended is valid, even if the clocks differ.
func TestSession_StartedAfter(t *testing.T) {
	u := User{Role: authz.RoleUser, Status: Active, ValidFrom: noon}
	for _, at := range []time.Time{noon.Add(-time.Second), noon, noon.Add(time.Millisecond)} {
		if s := newSession("s", u, Caller{}, "a", at).StartedAfter(u.ValidFrom); !s.Alive(u, noon.Add(time.Second)) {
			t.Errorf("session that starts at %v = %+v, want a valid one", at, s)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	ago := func(all ...time.Duration) []time.Time {
		times := make([]time.Time, len(all))
		for i, d := range all {
			times[i] = noon.Add(-d)
		}
		return times
	}
	for name, c := range map[string]struct {
		times []time.Time
		want  time.Duration
	}{
		"never":                 {nil, 0},
		"just now":              {ago(0), time.Minute},
		"59 seconds ago":        {ago(59 * time.Second), time.Second},
		"a minute ago":          {ago(time.Minute), 0},
		"five in an hour":       {ago(50*time.Minute, 40*time.Minute, 30*time.Minute, 20*time.Minute, 10*time.Minute), 10 * time.Minute},
		"ten in a day":          {ago(23*h, 22*h, 21*h, 20*h, 19*h, 18*h, 17*h, 16*h, 15*h, 14*h), h},
		"ten, the first is old": {ago(24*h, 22*h, 21*h, 20*h, 19*h, 18*h, 17*h, 16*h, 15*h, 14*h), 0},
		"more than there may be": {ago(30*time.Minute, 29*time.Minute, 28*time.Minute, 27*time.Minute, 26*time.Minute,
			25*time.Minute), 31 * time.Minute},
	} {
		if got := RetryAfter(SendWindows, c.times, noon); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

const h = time.Hour

func TestCodes_are_uniform(t *testing.T) {
	var first [10]int
	for range 10_000 {
		code := newCode()
		if !wellFormedCode(code) {
			t.Fatalf("newCode = %q, want six digits", code)
		}
		first[code[0]-'0']++
	}
	for digit, n := range first { // 1000 ± 30 each; the bounds are 8 standard deviations
		if n < 760 || n > 1240 {
			t.Errorf("%d begins %d of 10,000 codes", digit, n)
		}
	}
	for _, bad := range []string{"", "12345", "1234567", "12345a", "١٢٣", " 12345"} {
		if wellFormedCode(bad) {
			t.Errorf("wellFormedCode(%q) = true, want false", bad)
		}
	}
}

func TestCodeHash_binds(t *testing.T) {
	k := NewKey()
	base := codeHash(k, Verify, "a@b.vn", "123456")
	for what, other := range map[string]string{
		"purpose": codeHash(k, Reset, "a@b.vn", "123456"), "address": codeHash(k, Verify, "c@b.vn", "123456"),
		"code": codeHash(k, Verify, "a@b.vn", "123457"), "key": codeHash(NewKey(), Verify, "a@b.vn", "123456"),
	} {
		if other == base {
			t.Errorf("another %s has the same hash", what)
		}
	}
}

func TestEncrypt(t *testing.T) {
	k := NewKey()
	a, _ := Encrypt(k, "use", "123456")
	b, _ := Encrypt(k, "use", "123456")
	if a == b || strings.Contains(a, "123456") {
		t.Errorf("Encrypt = %q and %q, want two different ciphertexts", a, b)
	}
	testenv.Equal(t, "123456", testenv.Must(Decrypt(k, "use", a))(t))
	flipped := "A" + a[1:]
	if a[0] == 'A' {
		flipped = "B" + a[1:]
	}
	for what, decrypt := range map[string]func() (string, error){
		"another key": func() (string, error) { return Decrypt(NewKey(), "use", a) },
		"another use": func() (string, error) { return Decrypt(k, "other", a) },
		"changed":     func() (string, error) { return Decrypt(k, "use", flipped) },
		"cut":         func() (string, error) { return Decrypt(k, "use", a[:10]) },
		"empty":       func() (string, error) { return Decrypt(k, "use", "") },
		"no base64":   func() (string, error) { return Decrypt(k, "use", "!") },
	} {
		if text, err := decrypt(); err == nil {
			t.Errorf("Decrypt with %s = %q, want an error", what, text)
		}
	}
	if _, err := Encrypt(k[:5], "use", "x"); err == nil {
		t.Error("Encrypt accepted a short key")
	}
}
