package accounthttp

import (
	"encoding/json"
	"time"

	"comanda/internal/account"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// Account is a user as the owner and the staff see it. It never contains the password or tokens.
type Account struct {
	ID            string          `json:"id"`
	Username      *string         `json:"username"`
	Email         *string         `json:"email"`
	Phone         *string         `json:"phone"`
	Address       *string         `json:"address"`
	Gender        *string         `json:"gender" enum:"MALE,FEMALE,OTHER"`
	FirstName     *string         `json:"firstName"`
	Surname       *string         `json:"surname"`
	Age           *int            `json:"age"`
	Occupation    *string         `json:"occupation"`
	Province      *string         `json:"province"`
	City          *string         `json:"city"`
	DeviceID      *string         `json:"deviceId"`
	GoogleID      *string         `json:"googleId"`
	Geolocation   *string         `json:"geolocation" doc:"latitude,longitude in degrees."`
	Profile       json.RawMessage `json:"profile" doc:"A JSON object that the client defines."`
	AccountStatus string          `json:"accountStatus" enum:"PENDING,ACTIVE,DISABLED"`
	TrustScore    int             `json:"trustScore" doc:"0 to 100; falls with each flag."`
	FraudFlags    []string        `json:"fraudFlags" enum:"EXPIRED_ORDER,NO_SHOW,CHARGEBACK" doc:"The kinds of flags that count, each once."`
	Registered    bool            `json:"registered" doc:"The e-mail address is verified."`
	RoleID        string          `json:"roleId"`
	Role          string          `json:"role"`
	BranchIDs     []string        `json:"branchIds" doc:"The branches of a staff account."`
	LastLogin     *time.Time      `json:"lastLogin" doc:"Null before the first login. It does not change the version."`
	CreatedAt     time.Time       `json:"createdAt"`
	UpdatedAt     time.Time       `json:"updatedAt"`
	CreatedBy     *string         `json:"createdBy"`
	UpdatedBy     *string         `json:"updatedBy"`
	Version       int64           `json:"version"`
}

// accountOf returns an account as the API shows it.
func accountOf(u account.User) Account {
	a := Account{
		ID: httpapi.FormatID(u.ID), Username: httpapi.OrNull(u.Username), Email: httpapi.OrNull(u.Email),
		Phone: httpapi.OrNull(u.Phone), Address: httpapi.OrNull(u.Address), Gender: httpapi.OrNull(u.Gender),
		FirstName: httpapi.OrNull(u.FirstName), Surname: httpapi.OrNull(u.Surname), Age: u.Age,
		Occupation: httpapi.OrNull(u.Occupation), Province: httpapi.OrNull(u.Province), City: httpapi.OrNull(u.City),
		DeviceID: httpapi.OrNull(u.DeviceID), GoogleID: httpapi.OrNull(u.GoogleID),
		Geolocation: httpapi.OrNull(u.Geolocation), Profile: u.Extra, AccountStatus: string(u.Status),
		TrustScore: u.TrustScore, FraudFlags: seq.Map(u.Flags, func(k account.FlagKind) string { return string(k) }),
		Registered: u.Registered, RoleID: httpapi.FormatID(u.RoleID), Role: u.Role,
		BranchIDs: seq.Map(u.Branches, httpapi.FormatID),
		LastLogin: httpapi.TimeOrNull(u.LastLogin), CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
		CreatedBy: httpapi.OrNull(u.CreatedBy), UpdatedBy: httpapi.OrNull(u.UpdatedBy), Version: u.Version,
	}
	// Never null in JSON, so that clients need no check.
	if a.Profile == nil {
		a.Profile = json.RawMessage("{}")
	}
	return a
}

// Details are the profile fields of a request. Package account validates them. The type is exported because huma only
// reads exported parts of a body.
type Details struct {
	Username    string          `json:"username,omitempty" text:"line" maxLength:"64"`
	Phone       string          `json:"phone,omitempty" text:"line" maxLength:"32" doc:"E.164, or the digits of a national number."`
	DeviceID    string          `json:"deviceId,omitempty" text:"line" maxLength:"128"`
	Address     string          `json:"address,omitempty" text:"line" maxLength:"300"`
	Gender      string          `json:"gender,omitempty" enum:"MALE,FEMALE,OTHER"`
	FirstName   string          `json:"firstName,omitempty" text:"line" maxLength:"100"`
	Surname     string          `json:"surname,omitempty" text:"line" maxLength:"100"`
	Age         *int            `json:"age,omitempty" minimum:"0" maximum:"150"`
	Occupation  string          `json:"occupation,omitempty" text:"line" maxLength:"100"`
	Province    string          `json:"province,omitempty" text:"line" maxLength:"100"`
	City        string          `json:"city,omitempty" text:"line" maxLength:"100"`
	Geolocation string          `json:"geolocation,omitempty" text:"line" maxLength:"64" doc:"latitude,longitude in degrees."`
	Profile     json.RawMessage `json:"profile,omitempty" text:"exact" doc:"A JSON object that the client defines, at most 8 KB."`
}

// profile returns the profile of a new account. The e-mail address is separate, because a request that changes
// Details cannot change it.
func (d Details) profile(email string) account.Profile {
	return account.Profile{
		Username: d.Username, Email: email, Phone: d.Phone, DeviceID: d.DeviceID, Address: d.Address, Gender: d.Gender,
		FirstName: d.FirstName, Surname: d.Surname, Age: d.Age, Occupation: d.Occupation, Province: d.Province, City: d.City,
		Geolocation: d.Geolocation, Extra: d.Profile,
	}
}

// changes is a partial update of Details. An empty text clears a field.
type changes struct {
	Username    *string         `json:"username,omitempty" text:"line" maxLength:"64"`
	Phone       *string         `json:"phone,omitempty" text:"line" maxLength:"32"`
	DeviceID    *string         `json:"deviceId,omitempty" text:"line" maxLength:"128"`
	Address     *string         `json:"address,omitempty" text:"line" maxLength:"300"`
	Gender      *string         `json:"gender,omitempty" text:"exact" maxLength:"10" doc:"MALE, FEMALE, OTHER, or empty to remove it."`
	FirstName   *string         `json:"firstName,omitempty" text:"line" maxLength:"100"`
	Surname     *string         `json:"surname,omitempty" text:"line" maxLength:"100"`
	Age         *int            `json:"age,omitempty" minimum:"0" maximum:"150"`
	Occupation  *string         `json:"occupation,omitempty" text:"line" maxLength:"100"`
	Province    *string         `json:"province,omitempty" text:"line" maxLength:"100"`
	City        *string         `json:"city,omitempty" text:"line" maxLength:"100"`
	Geolocation *string         `json:"geolocation,omitempty" text:"line" maxLength:"64"`
	Profile     json.RawMessage `json:"profile,omitempty" text:"exact" doc:"Replaces the whole object."`
}

// changes converts the request; nil fields are those that the request leaves out.
func (c changes) changes() account.ProfileChanges {
	return account.ProfileChanges{
		Username: c.Username, Phone: c.Phone, DeviceID: c.DeviceID, Address: c.Address, Gender: c.Gender,
		FirstName: c.FirstName, Surname: c.Surname, Age: c.Age, Occupation: c.Occupation, Province: c.Province,
		City: c.City, Geolocation: c.Geolocation, Extra: c.Profile,
	}
}
