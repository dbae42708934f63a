package telemetry

import (
	"fmt"
	"log/slog"
)

// redacted is the same for every secret, so that not even its length shows.
const redacted = "[redacted]"

// Secret is a password, token or key. All ways of printing it produce "[redacted]"; only the explicit conversion
// string(s), which reviewers can search for, returns the text. Never use a secret as a map key: encoding/json writes
// map keys without calling their methods.
type Secret string

// String hides the text from %v, %s and every concatenation through fmt.
func (Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the text from every other verb, such as %q and %x.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the text from JSON, YAML and other text encoders. Unmarshalling works as for any string.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the text from JSON encoders that do not call MarshalText.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
