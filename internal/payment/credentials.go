package payment

// CredentialState is what a gateway says about the credentials of a merchant.
type CredentialState string

// The states of credentials.
const (
	CredentialsAccepted CredentialState = "ACCEPTED"
	CredentialsRefused  CredentialState = "REFUSED"        // an unknown merchant or a wrong secret
	MerchantInactive    CredentialState = "INACTIVE"       // the merchant exists and may not use the gateway
	AddressRefused      CredentialState = "IP_NOT_ALLOWED" // the gateway does not serve this server's address
	CredentialsUnclear  CredentialState = "UNCLEAR"        // any other response: it proves nothing
)

// CredentialReport is a gateway's response to a request that only tests the credentials. It contains no secret.
type CredentialReport struct {
	State   CredentialState
	Code    string // the gateway's code
	Message string // the gateway's text, cut to 200 bytes
}

// MaxCredentialMessage is the maximum length of CredentialReport.Message in bytes.
const MaxCredentialMessage = 200
