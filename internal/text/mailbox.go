package text

import (
	"errors"
	"net/mail"
	"strings"
)

// MaxMailbox is the maximum length of a mailbox in bytes, and maxAddress that of its address (RFC 5321, section 4.5.3.1).
const (
	MaxMailbox = 320
	maxAddress = 254
)

// ErrMailbox refuses a text that is not a mailbox.
var ErrMailbox = errors.New("must be an e-mail address, or a name with one, such as House <no-reply@house.example>")

// Mailbox is the sender of e-mails (RFC 5322, section 3.4).
type Mailbox struct {
	Name    string // may be empty
	Address string
}

// ParseMailbox parses an address with or without a name. It refuses several addresses, groups, characters that could
// end a header's line, and addresses that only some servers deliver: beyond ASCII, with quotes, or without a domain name.
func ParseMailbox(s string) (Mailbox, error) {
	if len(s) > MaxMailbox {
		return Mailbox{}, ErrMailbox
	}
	// The text is cleaned before it is parsed, because the parser accepts a line break where a header may be folded
	// (section 2.2.3).
	if cleaned, err := Line.Clean(s); err != nil || cleaned != s {
		return Mailbox{}, ErrMailbox
	}
	a, err := mail.ParseAddress(s)
	if err != nil || len(a.Address) > maxAddress || !isPlainAddress(a.Address) {
		return Mailbox{}, ErrMailbox
	}
	// The parser also accepts a group of one address, and comments.
	if s != a.Address && !strings.HasSuffix(s, "<"+a.Address+">") {
		return Mailbox{}, ErrMailbox
	}
	// A name may be encoded (RFC 2047), and the encoded text may contain anything.
	if cleaned, err := Line.Clean(a.Name); err != nil || cleaned != a.Name {
		return Mailbox{}, ErrMailbox
	}
	return Mailbox{a.Name, a.Address}, nil
}

// isPlainAddress reports whether an address is made of dot-atoms (RFC 5322, section 3.2.3) on both sides of its @.
func isPlainAddress(address string) bool {
	local, domain, ok := strings.Cut(address, "@")
	return ok && local != "" && domain != "" && !strings.ContainsFunc(address, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r)
	}) && strings.Count(address, "@") == 1
}

// Domain returns the part of the address after the @.
func (m Mailbox) Domain() string { return m.Address[strings.LastIndexByte(m.Address, '@')+1:] }
