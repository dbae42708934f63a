package text

import (
	"errors"
	"net/mail"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseMailbox(t *testing.T) {
	for in, want := range map[string]Mailbox{
		"no-reply@house.example":                    {"", "no-reply@house.example"},
		"Quán Hoa <no-reply@house.example>":         {"Quán Hoa", "no-reply@house.example"},
		`"Hoa, \"Q1\"" <a+b@localhost.localdomain>`: {`Hoa, "Q1"`, "a+b@localhost.localdomain"},
		"=?UTF-8?Q?Qu=C3=A1n?= <a@b.example>":       {"Quán", "a@b.example"},
	} {
		if got, err := ParseMailbox(in); err != nil || got != want {
			t.Errorf("ParseMailbox(%s) = %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "House", "a@b, c@d", "House: a@b;", "a@b\r\nBcc: c@d", "House\r\n <a@b>", " a@b", `"a b"@c`, "ánh@house.example",
		"a@nhà.example", "a@[127.0.0.1]", "a@", "@b", "House <a@b", "=?UTF-8?Q?A=0D=0ABcc:_c@d?= <a@b>", "\u202eHouse <a@b>",
		"House <" + strings.Repeat("a", 64) + "@" + strings.Repeat("b", 250) + ">", strings.Repeat("x", 320) + " <a@b>", "a\x00@b",
		"a@b (House)", "House: a@b; (c)",
	} {
		if got, err := ParseMailbox(bad); !errors.Is(err, ErrMailbox) {
			t.Errorf("%q is %+v,: error %v, want ErrMailbox", bad, got, err)
		}
	}
}

// No accepted mailbox contains characters that could end a line or start another address, and other parsers read each
// as one address.
func TestParseMailbox_any(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "@", "b.example", "<", ">", "\r\n", " ", ",", `"`, "\\", "=?UTF-8?Q?=0A?=", "Quán", "(c)", ":", ";", "."})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(pieces, 1, 12).Draw(t, "pieces"), "")
		m, err := ParseMailbox(in)
		if err != nil {
			return
		}
		if a, err := mail.ParseAddress((&mail.Address{Name: m.Name, Address: m.Address}).String()); err != nil || a.Address != m.Address {
			t.Fatalf("ParseMailbox(%q) = %+v, which is not an address: %v", in, m, err)
		}
		if strings.ContainsAny(m.Name+m.Address, "\r\n\x00") || strings.ContainsAny(m.Address, " <>,") || m.Domain() == "" {
			t.Fatalf("ParseMailbox(%q) = %+v, want no control character, and a domain", in, m)
		}
	})
}
