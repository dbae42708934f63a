// Package identityhttp lets people register, log in and look after their accounts, and is the doorkeeper of the server.
package identityhttp
