import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.AbstractNetworkConnector;
import org.eclipse.jetty.server.Server;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** Starts DynamoDB Local on 127.0.0.1 alone. By itself it listens on every interface, and has no option for that. */
public class LoopbackDynamoDb {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(args);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(local)).getConnectors()) {
      ((AbstractNetworkConnector) connector).setHost("127.0.0.1");
    }
    local.start();
    local.join();
  }
}
