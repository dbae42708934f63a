// Package identityhttp has the routes for registration, login, own accounts and administration, and authenticates
// requests for the server.
package identityhttp
