package mail

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

func TestRender(t *testing.T) {
	for _, name := range Templates() {
		for _, locale := range Locales() {
			for _, recipient := range []string{"", "Nguyễn Thị Ánh"} {
				m := testenv.Must(Render(name, locale, map[string]string{"code": "493028", "name": recipient, "subject": "News"}))(t)
				all := m.Subject + m.Text + m.HTML
				if m.Subject == "" || strings.ContainsAny(m.Subject, "\r\n{<") || strings.Contains(all, "{{") ||
					strings.Contains(all, "no value") || !strings.Contains(m.HTML, `lang="`+locale+`"`) {
					t.Errorf("template %s in %s = %+v, want a subject of one line and no placeholder", name, locale, m)
				}
				if has := strings.Contains(m.Text, "\n\n493028\n\n") && strings.Contains(m.HTML, ">493028<"); has != (name == "verify" || name == "reset" || name == "email_change") {
					t.Errorf("%s %s: contains the code: %t", name, locale, has)
				}
				if !strings.Contains(m.Text, recipient) || !strings.Contains(m.HTML, recipient) {
					t.Errorf("%s %s does not greet %q", name, locale, recipient)
				}
			}
		}
	}
}

func TestRender_unknown_locale(t *testing.T) {
	fallback := testenv.Must(Render("welcome", Locales()[0], nil))(t)
	if other, err := Render("welcome", "fr", nil); err != nil || other != fallback {
		t.Errorf("Render in an unknown locale = %+v, %v, want the first locale's text", other, err)
	}
	if _, err := Render("../page", "vi", nil); err == nil {
		t.Error("an unknown template was rendered")
	}
}

// Joiners keep emoji and words together.
func TestOneLine(t *testing.T) {
	for given, want := range map[string]string{
		"👨\u200d👩\u200d👧": "👨\u200d👩\u200d👧", "Donau\u00addampf": "Donau\u00addampf", "می\u200cروم": "می\u200cروم",
		"a\r\nb\tc\u2028d\u202ee": "a b c d e",
	} {
		testenv.Equal(t, want, oneLine(given))
	}
}

// A user's name cannot start a line or open a tag, and its length is bounded (E4).
func TestRender_names(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		recipient := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"a\r\nBcc: all@example.com", "</p><script>alert(1)</script>", "{{.code}}", "a\u2028b", "\u202eevil", "a\x00b",
			strings.Repeat("x", 5000),
		})).Draw(r, "name")
		plain := testenv.Must(Render("verify", "en", map[string]string{"code": "123456"}))(r)
		m := testenv.Must(Render("verify", "en", map[string]string{"code": "123456", "name": recipient}))(r)
		if m.Subject != plain.Subject || strings.Count(m.Text, "\n") != strings.Count(plain.Text, "\n") ||
			strings.Count(m.HTML, "<") != strings.Count(plain.HTML, "<") || len(m.Text) > len(plain.Text)+2*maxField {
			r.Fatalf("%q renders as\n%s\n%s", recipient, m.Text, m.HTML)
		}
		if strings.ContainsFunc(m.Text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) }) {
			r.Fatalf("control characters: %q", m.Text)
		}
	})
}

// Every embedded template is in the list, or its e-mails would never be sent.
func TestTemplates_are_all_listed(t *testing.T) {
	for _, e := range testenv.Must(files.ReadDir("templates"))(t) {
		name, _, _ := strings.Cut(e.Name(), ".")
		if name != "parts" && name != "page" && !slices.Contains(Templates(), name) {
			t.Errorf("%s is not in the list of templates", e.Name())
		}
	}
}
