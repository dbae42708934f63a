package identity

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"comanda/internal/fault"
)

// Status is what an account may be used for.
type Status string

// The states of an account.
const (
	Pending  Status = "PENDING"  // its e-mail address is not proved; it cannot log in
	Active   Status = "ACTIVE"   // it can
	Disabled Status = "DISABLED" // the house has closed it
)

// Profile is what people say about themselves. Empty means not said.
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
	PasswordHash string // PHC string; empty: no login by password. It leaves the process for SQL only
	RoleID       int64
	Role         string // its name
	Branches     []int64
	Status       Status
	TrustScore   int
	Registered   bool      // the e-mail address was proved
	ValidFrom    time.Time // sessions begun up to then are dead
	Failures     int       // wrong passwords in a row
	CreatedAt    time.Time
	UpdatedAt    time.Time
	CreatedBy    string
	UpdatedBy    string
	Version      int64
}

// Actor is the account as the sender of a request within a session.
func (u User) Actor(session string) Actor {
	return Actor{
		Kind: Account, UserID: u.ID, RoleID: u.RoleID, Role: u.Role, Session: session,
		AllBranches: EveryBranch(u.Role), Branches: u.Branches,
	}
}

// The limits of a profile, in characters unless said otherwise.
const (
	maxEmail     = 254
	maxLocal     = 64
	maxShort     = 100 // names, places, occupations
	maxLong      = 300 // addresses
	maxDevice    = 128
	maxExtra     = 8 << 10 // bytes of JSON
	maxAge       = 150
	maxLatitude  = 90
	maxLongitude = 180
)

var (
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

// NormalEmail gives an e-mail address in the one form in which it is kept and looked up: without spaces around it, in
// lower case. ok is false for what is no address. Addresses beyond ASCII are refused: two spellings that look alike
// must not be two accounts.
func NormalEmail(s string) (email string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	local, domain, found := strings.Cut(s, "@")
	ok = found && len(s) <= maxEmail && len(local) <= maxLocal && localForm.MatchString(local) && domainForm.MatchString(domain)
	return s, ok
}

// NormalUsername gives a username as it is kept and looked up. One never looks like an e-mail address or has a space.
func NormalUsername(s string) (name string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	return s, usernameForm.MatchString(s)
}

// NormalPhone gives a telephone number as it is kept: + and the digits of E.164, or the digits of a national number.
func NormalPhone(s string) (phone string, ok bool) {
	s = phoneFiller.Replace(strings.TrimSpace(s))
	return s, e164Form.MatchString(s) || nationalForm.MatchString(s)
}

// Normalised gives the profile in the form in which it is kept, or what is wrong with it.
func (p Profile) Normalised() (Profile, error) {
	for _, step := range []func(*Profile) error{normalNames, normalTexts, normalFacts, normalExtra} {
		if err := step(&p); err != nil {
			return Profile{}, err
		}
	}
	return p, nil
}

// normalNames looks at what accounts are found by.
func normalNames(p *Profile) error {
	var ok bool
	if p.Email, ok = NormalEmail(p.Email); !ok && p.Email != "" {
		return invalid("This is not an e-mail address.")
	}
	if p.Username, ok = NormalUsername(p.Username); !ok && p.Username != "" {
		return invalid("A username has 3 to 32 of a-z, digits, dots, hyphens and underscores; the first is a letter or a digit.")
	}
	if p.Phone, ok = NormalPhone(p.Phone); !ok && p.Phone != "" {
		return invalid("A telephone number is + and 7 to 15 digits, or the 6 to 15 digits of a national one.")
	}
	p.DeviceID = strings.ToLower(strings.TrimSpace(p.DeviceID))
	if p.DeviceID != "" && (len(p.DeviceID) > maxDevice || !deviceForm.MatchString(p.DeviceID)) {
		return invalid("A device id has up to %d printable characters.", maxDevice)
	}
	return nil
}

func normalTexts(p *Profile) error {
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
			return invalid("%s is a line of at most %d characters.", t.name, t.most)
		}
	}
	return nil
}

func normalFacts(p *Profile) error {
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
		return invalid("geolocation is latitude,longitude in degrees.")
	}
	p.Geolocation = north + "," + east
	return nil
}

// degrees reads an angle. Six decimals are a tenth of a metre.
func degrees(s string, most float64) (string, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f >= -most && f <= most) {
		return "", false
	}
	text := strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0")
	return strings.TrimSuffix(text, "."), true
}

func normalExtra(p *Profile) error {
	if len(p.Extra) == 0 || string(p.Extra) == "null" {
		p.Extra = nil
		return nil
	}
	var object map[string]json.RawMessage
	var compact bytes.Buffer
	if json.Unmarshal(p.Extra, &object) != nil || json.Compact(&compact, p.Extra) != nil ||
		bytes.Contains(p.Extra, []byte(`\u0000`)) { // PostgreSQL cannot show it
		return invalid("profile is a JSON object.")
	}
	if compact.Len() > maxExtra {
		return invalid("profile has at most %d bytes.", maxExtra)
	}
	if p.Extra = compact.Bytes(); len(object) == 0 {
		p.Extra = nil
	}
	return nil
}

// Changes are what people change about themselves. nil leaves as it is, an empty text removes. The e-mail address is
// not among them: it would have to be proved first.
type Changes struct {
	Username, Phone, DeviceID, Address, Gender, FirstName, Surname, Occupation, Province, City, Geolocation *string

	Age   *int
	Extra json.RawMessage // nil leaves; otherwise the whole object
}

// Apply gives the profile after the changes, normalised, or what is wrong with them.
func (c Changes) Apply(p Profile) (Profile, error) {
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
	return p.Normalised()
}

// The faults of accounts.
var (
	ErrUser          = fault.New(fault.NotFound, "user_not_found", "There is no such user.")
	ErrTaken         = fault.New(fault.Conflict, "value_taken", "Another account had one of these values just now; try again.")
	ErrEmailTaken    = fault.New(fault.Conflict, "email_taken", "There is an account with this e-mail address.")
	ErrUsernameTaken = fault.New(fault.Conflict, "username_taken", "Somebody else has this username.")
	ErrPhoneTaken    = fault.New(fault.Conflict, "phone_taken", "There is an account with this telephone number.")
	ErrDeviceTaken   = fault.New(fault.Conflict, "device_taken", "There is an account with this device.")
)

// Taken tells which of a profile's unique values another account has.
func Taken(p, other Profile) error {
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
