package account

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// Status is the state of an account.
type Status string

// States of an account.
const (
	Pending  Status = "PENDING"  // the e-mail address is not verified; no login
	Active   Status = "ACTIVE"   // may log in
	Disabled Status = "DISABLED" // disabled by an administrator; no login
)

// Profile is what users enter about themselves. Empty means not given.
type Profile struct {
	Username    string // lower case, 3 to 32 characters
	Email       string // lower case
	Phone       string // E.164, or the digits of a national number
	DeviceID    string // lower case
	Address     string
	Gender      string // MALE, FEMALE, OTHER
	FirstName   string
	Surname     string
	Age         *int
	Occupation  string
	Province    string
	City        string
	Geolocation string          // "latitude,longitude" in degrees
	Extra       json.RawMessage // an open JSON object, nil for an empty one
}

// User is an account.
type User struct {
	Profile

	ID           int64
	GoogleID     string
	PasswordHash string // PHC string; empty disables login by password. Stored in SQL only
	RoleID       int64
	Role         string // name of the role
	Branches     []int64
	Status       Status
	TrustScore   int        // 0 to FullTrust
	Flags        []FlagKind // kinds of flags that count, each once
	Registered   bool       // the e-mail address is verified
	ValidFrom    time.Time  // sessions that started up to then are invalid
	Failures     int        // consecutive wrong passwords
	CreatedAt    time.Time
	UpdatedAt    time.Time
	CreatedBy    string
	UpdatedBy    string
	Version      int64
	LastLogin    time.Time // zero before the first; a login does not change the version
}

// Actor returns the account as the actor of a request within a session.
func (u User) Actor(session string) authz.Actor {
	return authz.Actor{
		Kind: authz.Account, UserID: u.ID, RoleID: u.RoleID, Role: u.Role, Session: session,
		AllBranches: authz.WorksInEveryBranch(u.Role), Branches: u.Branches,
	}
}

// Limits of a profile, in characters unless noted.
const (
	maxEmail     = 254
	maxLocal     = 64
	maxShort     = 100 // names, places, occupations
	maxLong      = 300 // addresses
	maxDeviceID  = 128
	maxExtra     = 8 << 10 // bytes of JSON
	maxAge       = 150
	maxLatitude  = 90
	maxLongitude = 180
)

var (
	// These forms are compared with normalized, lower-case text.
	usernameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{2,31}$`)
	localForm    = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")
	domainForm   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`)
	e164Form     = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	nationalForm = regexp.MustCompile(`^[0-9]{6,15}$`)
	deviceForm   = regexp.MustCompile(`^[!-~]+$`)
	phoneFiller  = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "")
)

func invalid(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "invalid", format, args...)
}

// NormalizeEmail returns an e-mail address as it is stored and looked up: trimmed and in lower case. ok reports whether
// s is an address. Non-ASCII addresses are refused, so that two addresses that look alike cannot be two accounts.
func NormalizeEmail(s string) (email string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, domain, found := strings.Cut(s, "@")
	ok = found && len(s) <= maxEmail && len(local) <= maxLocal && localForm.MatchString(local) && domainForm.MatchString(domain)
	return s, ok
}

// NormalizeUsername returns a username as it is stored and looked up. A valid username contains neither @ nor spaces,
// so it never looks like an e-mail address.
func NormalizeUsername(s string) (name string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	return s, usernameForm.MatchString(s)
}

// NormalizePhone returns a telephone number as it is stored: + and the digits of E.164, or the digits of a national
// number.
func NormalizePhone(s string) (phone string, ok bool) {
	s = phoneFiller.Replace(strings.TrimSpace(s))
	return s, e164Form.MatchString(s) || nationalForm.MatchString(s)
}

// Normalized returns the profile as it is stored, or the first validation error.
func (p Profile) Normalized() (Profile, error) {
	// p is a copy, so the caller's profile is unchanged after an error.
	for _, step := range []func(*Profile) error{normalizeNames, normalizeTexts, normalizeFacts, normalizeExtra} {
		if err := step(&p); err != nil {
			return Profile{}, err
		}
	}
	return p, nil
}

// normalizedNew is Normalized for a new account, which needs an e-mail address.
func (p Profile) normalizedNew() (Profile, error) {
	p, err := p.Normalized()
	if err == nil && p.Email == "" {
		err = invalid("An e-mail address is needed.")
	}
	return p, err
}

// normalizeNames validates the fields by which accounts are looked up.
func normalizeNames(p *Profile) error {
	var ok bool
	if p.Email, ok = NormalizeEmail(p.Email); !ok && p.Email != "" {
		return invalid("This is not a valid e-mail address.")
	}
	if p.Username, ok = NormalizeUsername(p.Username); !ok && p.Username != "" {
		return invalid("A username has 3 to 32 characters: a-z, 0-9, dot, hyphen, underscore. It starts with a letter or digit.")
	}
	if p.Phone, ok = NormalizePhone(p.Phone); !ok && p.Phone != "" {
		return invalid("A phone number is + and 7 to 15 digits, or a national number of 6 to 15 digits.")
	}
	p.DeviceID = strings.ToLower(strings.TrimSpace(p.DeviceID))
	if p.DeviceID != "" && (len(p.DeviceID) > maxDeviceID || !deviceForm.MatchString(p.DeviceID)) {
		return invalid("A device id has up to %d printable characters.", maxDeviceID)
	}
	return nil
}

// normalizeTexts trims and limits the free texts. They are single lines, so control characters are refused.
func normalizeTexts(p *Profile) error {
	for _, t := range []struct {
		name string
		text *string
		most int
	}{
		{"address", &p.Address, maxLong}, {"firstName", &p.FirstName, maxShort}, {"surname", &p.Surname, maxShort},
		{"occupation", &p.Occupation, maxShort}, {"province", &p.Province, maxShort}, {"city", &p.City, maxShort},
	} {
		*t.text = strings.TrimSpace(*t.text)
		if utf8.RuneCountInString(*t.text) > t.most || strings.ContainsFunc(*t.text, unicode.IsControl) {
			return invalid("%s must be one line of at most %d characters.", t.name, t.most)
		}
	}
	return nil
}

// normalizeFacts validates the fields with a fixed set or range of values.
func normalizeFacts(p *Profile) error {
	switch p.Gender = strings.ToUpper(strings.TrimSpace(p.Gender)); p.Gender {
	case "", "MALE", "FEMALE", "OTHER":
	default:
		return invalid("gender is MALE, FEMALE or OTHER.")
	}
	if p.Age != nil && (*p.Age < 0 || *p.Age > maxAge) {
		return invalid("age is a number of years from 0 to %d.", maxAge)
	}
	if p.Geolocation = strings.TrimSpace(p.Geolocation); p.Geolocation == "" {
		return nil
	}
	latitude, longitude, _ := strings.Cut(p.Geolocation, ",")
	north, okNorth := degrees(latitude, maxLatitude)
	east, okEast := degrees(longitude, maxLongitude)
	if !okNorth || !okEast {
		return invalid("geolocation must be latitude,longitude in degrees.")
	}
	p.Geolocation = north + "," + east
	return nil
}

// degrees normalizes an angle to six decimals, a precision of about ten centimetres.
func degrees(s string, most float64) (string, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f >= -most && f <= most) {
		return "", false
	}
	text := strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0")
	return strings.TrimSuffix(text, "."), true
}

// normalizeExtra stores the open object without white space, so that maxExtra limits its content. An empty object and
// null are the same as none.
func normalizeExtra(p *Profile) error {
	if len(p.Extra) == 0 || string(p.Extra) == "null" {
		p.Extra = nil
		return nil
	}
	var object map[string]json.RawMessage
	var compact bytes.Buffer
	if json.Unmarshal(p.Extra, &object) != nil || json.Compact(&compact, p.Extra) != nil ||
		text.EscapesNUL(p.Extra) { // PostgreSQL's jsonb cannot store U+0000
		return invalid("profile must be a JSON object.")
	}
	if compact.Len() > maxExtra {
		return invalid("profile has at most %d bytes.", maxExtra)
	}
	if p.Extra = compact.Bytes(); len(object) == 0 {
		p.Extra = nil
	}
	return nil
}

// ProfileChanges is a partial update of a profile: nil leaves a field as it is, an empty text clears it. The e-mail
// address is not part of it, because a new one would have to be verified first.
type ProfileChanges struct {
	Username, Phone, DeviceID, Address, Gender, FirstName, Surname, Occupation, Province, City, Geolocation *string

	Age   *int
	Extra json.RawMessage // nil leaves it; otherwise it replaces the whole object
}

// Apply returns the normalized profile after the changes, or the first validation error.
func (c ProfileChanges) Apply(p Profile) (Profile, error) {
	for _, f := range []struct{ to, from *string }{
		{&p.Username, c.Username}, {&p.Phone, c.Phone}, {&p.DeviceID, c.DeviceID}, {&p.Address, c.Address},
		{&p.Gender, c.Gender}, {&p.FirstName, c.FirstName}, {&p.Surname, c.Surname}, {&p.Occupation, c.Occupation},
		{&p.Province, c.Province}, {&p.City, c.City}, {&p.Geolocation, c.Geolocation},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if c.Age != nil {
		p.Age = c.Age
	}
	if c.Extra != nil {
		p.Extra = c.Extra
	}
	return p.Normalized()
}

// Errors of accounts.
var (
	ErrTaken = fault.New(fault.Conflict, "value_taken",
		"Another account already uses one of these values. Check them and try again.")
	ErrEmailTaken    = fault.New(fault.Conflict, "email_taken", "There is already an account with this e-mail address.")
	ErrUsernameTaken = fault.New(fault.Conflict, "username_taken", "This username is taken.")
	ErrPhoneTaken    = fault.New(fault.Conflict, "phone_taken", "There is already an account with this phone number.")
	ErrDeviceTaken   = fault.New(fault.Conflict, "device_taken", "There is already an account with this device.")
)

// TakenError returns the error for the first unique value of p that other has too, or nil. If
// several are taken, it reports the first in the order e-mail address, username, phone, device.
func TakenError(p, other Profile) error {
	same := func(a, b string) bool { return a != "" && a == b }
	switch {
	case same(p.Email, other.Email):
		return ErrEmailTaken
	case same(p.Username, other.Username):
		return ErrUsernameTaken
	case same(p.Phone, other.Phone):
		return ErrPhoneTaken
	case same(p.DeviceID, other.DeviceID):
		return ErrDeviceTaken
	}
	return nil
}
