import type { InstallTexts } from './texts.ts';

export const pt: InstallTexts = {
  name: 'Português',
  direction: 'ltr',
  locale: 'pt-BR',
  chooseLanguage: 'Idioma',
  ready: {
    title: 'Instale o seu eSIM',
    text: 'Instale-o no telefone que vai levar na viagem, de preferência antes de partir. Fique no Wi-Fi até o fim. Ele só pode ser instalado uma vez.',
  },
  installed: {
    title: 'Já instalado em um aparelho',
    text: 'Este eSIM está em um aparelho, por isso o código não é mais mostrado. Para passá-lo a outro telefone, pergunte onde você o comprou.',
  },
  notDelivered: {
    title: 'O seu eSIM está sendo preparado',
    text: 'Esta página se atualiza sozinha. Você pode fechá-la e voltar.',
  },
  ended: {
    title: 'Este eSIM não pode ser instalado',
    text: 'Se você não esperava isso, pergunte onde o comprou.',
  },
  plan: {
    heading: 'O seu plano',
    dataLeft: 'Dados restantes',
    of: (left, total) => `${left} de ${total}`,
    installBy: 'Instalar até',
    firstUseBy: 'Usar pela primeira vez até',
    validFor: 'Válido a partir da primeira utilização por',
    timeLeft: 'Tempo restante',
    validUntil: 'Válido até',
    asOf: (age) => `Último dado: ${age}. O consumo pode ter até três horas de atraso.`,
  },
  oneTap: {
    title: 'Neste telefone',
    text: 'Toque uma vez e siga as indicações.',
    iphone: 'Instalar no iPhone',
    iphoneNote: 'iOS 17.4 ou posterior',
    android: 'Instalar no Android',
    androidNote: 'Telefones Android recentes',
  },
  qr: {
    title: 'Com a câmera',
    text: 'Abra esta página em outra tela e leia o código com o telefone.',
    label: 'Código QR que instala o eSIM',
  },
  byHand: {
    title: 'Manualmente',
    text: 'Se nada disso funcionar, digite estes dados quando o telefone os pedir.',
    smdpAddress: 'Endereço SM-DP+ (iPhone)',
    matchingId: 'Código de ativação (iPhone)',
    activationCode: 'Código de ativação (Android)',
    apn: 'APN, só se o telefone pedir',
    copy: 'Copiar',
    copied: 'Copiado',
  },
  steps: {
    heading: 'Passo a passo',
    iphone: {
      title: 'iPhone',
      steps: [
        'Abra Ajustes e depois Celular.',
        'Toque em Adicionar eSIM e depois em Usar código QR.',
        'Leia o código, ou toque em Digitar detalhes manualmente e digite as duas linhas acima.',
        'Toque em Continuar e espere a ativação. Dê um nome ao eSIM, por exemplo, Viagem.',
        'Ao chegar: escolha o eSIM para Dados celulares e ative o roaming de dados para ele.',
      ],
    },
    samsung: {
      title: 'Samsung Galaxy',
      steps: [
        'Abra Configurações, depois Conexões e Gerenciador de SIM.',
        'Toque em Adicionar eSIM e depois em Ler código QR.',
        'Leia o código, ou toque em Inserir código de ativação e digite o código para Android.',
        'Toque em Adicionar e espere. Ative o eSIM no Gerenciador de SIM.',
        'Ao chegar: escolha o eSIM para dados móveis e ative Roaming de dados em Redes móveis.',
      ],
    },
    pixel: {
      title: 'Google Pixel e outros telefones Android',
      steps: [
        'Abra Configurações, depois Rede e Internet e Chips.',
        'Toque em Adicionar chip e depois em Configurar um eSIM.',
        'Leia o código, ou toque em Precisa de ajuda? e digite o código para Android.',
        'Toque em Fazer o download e espere. Ative Usar chip.',
        'Ao chegar: ative Dados móveis e Roaming para o eSIM.',
      ],
    },
  },
  help: {
    heading: 'Se não funcionar',
    causes: [
      {
        summary: 'O telefone não mostra “Adicionar eSIM”.',
        nextStep: 'Ele não aceita eSIM ou está bloqueado por uma operadora. Pergunte à loja que o vendeu.',
      },
      {
        summary: 'A instalação para.',
        nextStep: 'Conecte-se ao Wi-Fi, reinicie o telefone e instale de novo no mesmo telefone.',
      },
      {
        summary: 'O telefone diz que o código já foi usado.',
        nextStep: 'Veja a lista de chips: o eSIM talvez já esteja lá, desativado.',
      },
      {
        summary: 'Está instalado, mas não há internet.',
        nextStep:
          'Ative o roaming de dados para o eSIM e escolha-o para dados móveis. Depois ative e desative o modo avião.',
      },
    ],
  },
  keepPrivate: 'Não compartilhe o endereço desta página: quem o tiver pode instalar o eSIM.',
  askShop: 'Dúvidas? Fale com a loja',
  topUps: {
    title: 'Recarga automática',
    text: 'Quando restarem poucos dados, este eSIM é recarregado automaticamente, até o limite que você definir. Você pode desativá-la aqui a qualquer momento.',
    howMany: 'Número máximo de recargas',
    days: 'Por quantos dias',
    turnOn: 'Ativar a recarga automática',
    turnOff: 'Desativar a recarga automática',
    isOn: (used, most) => `Está ativada: ${used} de no máximo ${most} recargas usadas.`,
    until: (date) => `Termina em ${date}.`,
  },
  diagnosis: {
    NOT_DELIVERED: {
      summary: 'O eSIM ainda não foi entregue.',
      nextStep:
        'Em geral leva menos de um minuto após o pagamento. Se demorar mais, pergunte onde o comprou.',
    },
    DELIVERY_FAILED: {
      summary: 'O eSIM não foi entregue.',
      nextStep: 'Pergunte onde você o comprou; o pagamento é devolvido.',
    },
    NOT_SCANNED: {
      summary: 'O eSIM ainda não foi instalado.',
      nextStep: 'Abra a página de instalação no telefone e instale-o, no Wi-Fi.',
    },
    DOWNLOAD_INTERRUPTED: {
      summary: 'O download para o telefone começou e não terminou.',
      nextStep: 'Conecte-se ao Wi-Fi, reinicie o telefone e instale o eSIM de novo no mesmo telefone.',
    },
    SWITCHED_OFF: {
      summary: 'O eSIM está instalado e desativado.',
      nextStep: 'Ative-o nas configurações de chip do telefone.',
    },
    NOT_CONNECTED: {
      summary: 'O eSIM está instalado e ativado, mas ainda não se conectou a uma rede.',
      nextStep: 'No destino, ative o roaming de dados para ele e escolha-o para dados móveis.',
    },
    NO_USAGE_YET: {
      summary: 'O eSIM se conectou e ainda não se conhece nenhum consumo.',
      nextStep:
        'Se não houver internet, ative o roaming de dados para o eSIM; se houver, não é preciso fazer nada.',
    },
    ROAMING_LIKELY_OFF: {
      summary: 'O eSIM se conectou, mas não usa dados: o roaming provavelmente está desativado.',
      nextStep:
        'Ative o roaming de dados para o eSIM, escolha-o para dados móveis e depois ative e desative o modo avião.',
    },
    WORKING: { summary: 'O eSIM funciona.', nextStep: 'Não é preciso fazer nada.' },
    USED_UP: {
      summary: 'Todos os dados do eSIM foram usados.',
      nextStep: 'Recarregue-o onde você o comprou ou compre um novo.',
    },
    SUSPENDED: { summary: 'O eSIM está suspenso.', nextStep: 'Pergunte onde você o comprou.' },
    DELETED: {
      summary: 'O eSIM foi apagado do telefone e não pode ser instalado de novo.',
      nextStep: 'Compre um novo.',
    },
    EXPIRED: { summary: 'O eSIM expirou.', nextStep: 'Compre um novo.' },
    CANCELLED: { summary: 'O eSIM foi cancelado.', nextStep: 'Pergunte onde você o comprou.' },
    RETURNED: {
      summary: 'O eSIM foi devolvido.',
      nextStep: 'Ele não pode mais ser instalado. Pergunte onde você o comprou.',
    },
    REPLACED: {
      summary: 'O eSIM foi substituído por um novo.',
      nextStep: 'Use o novo eSIM. Você o recebeu de onde comprou este.',
    },
  },
  notFound: {
    title: 'Não há eSIM neste link',
    text: 'O link está incompleto ou foi substituído por outro. Peça o link atual onde você comprou o eSIM.',
  },
  tooMany: {
    title: 'Um momento, por favor',
    text: 'Esta página foi aberta vezes demais. Abra-a de novo em um minuto.',
  },
  unavailable: {
    title: 'Não disponível agora',
    text: 'O seu eSIM não se perdeu. Abra esta página de novo em um minuto.',
  },
  email: {
    subject: (item) => `O seu eSIM: ${item}`,
    sent: (sender, item) => `${sender} enviou-lhe um eSIM: ${item}.`,
    onBehalfOf: (us, name) => `${us}, em nome de “${name}”,`,
    reference: (reference) => `Pedido: ${reference}`,
    open: 'Abra este link no telefone que o vai usar e siga os passos:',
    personal: 'O link é pessoal: não o partilhe.',
    stop: 'Se não conhece o remetente ou não quer mais e-mails destes:',
    test: 'Isto é um teste. O eSIM não funciona.',
  },
};
