package telemetry

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a password, token or key. Every way of printing it gives "[redacted]"; the text itself comes out by an
// explicit conversion, string(s), which a reviewer can search for. A secret is never the key of a map: encoding/json
// writes the keys of maps without asking their type.
type Secret string

// String hides the text from %v, %s and every concatenation through fmt.
func (Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the text from every other verb, such as %q and %x.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the text from JSON, YAML and whatever else asks for text. Reading a secret from text works as for
// any string.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON says the same for an encoder that does not ask for text.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
